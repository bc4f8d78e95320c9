import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { Store, TaskEntry } from './store.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import {
  buffersOf,
  nodesOf,
  openExplainingDatabase,
  type ExplainingDatabase,
} from '../../test/store/explaining-database.js';
import { fillWithMillion, share, taskId } from '../../test/store/million-tasks.js';
import { openFreshPostgresStore, type OpenStore } from '../../test/store/open-store.js';
import {
  claimOf,
  insertOf,
  newTask,
  openEpoch,
  register,
  requestOf,
  settleLost,
} from '../../test/store/rows.js';
import { openSession } from '../../test/store/session.js';
import { createStore } from './create-store.js';

const batch = 100;

/** The worst that the planner meets: a million tasks without statistics, or plans that were made before there were any. */
describe('with a million tasks', () => {
  let opened: OpenStore;
  let epoch: string;
  /** It made and kept its plans while the table was empty, and known to be empty. */
  let old: ExplainingDatabase;

  beforeAll(async () => {
    opened = await openFreshPostgresStore();
    const { namespace } = opened;
    const session = await openSession();
    await session.query(`ALTER TABLE "${namespace}".tasks SET (autovacuum_enabled = off)`);
    // Only the time to fill it changes.
    await session.query(`ALTER TABLE "${namespace}".tasks SET UNLOGGED`);
    await session.query(`VACUUM "${namespace}".tasks`);
    epoch = await openEpoch(opened.store);
    for (let worker = 1; worker <= 50; worker += 1) await register(opened.store);
    old = await openExplainingDatabase(sharedPostgresUrl());
    for (let round = 0; round < 7; round += 1) await callEverything(createStore(old, namespace));
    await fillWithMillion(session, namespace, epoch);
    await session.close();
  }, 180_000);

  afterAll(async () => {
    await old?.close();
    await opened?.close();
  });

  /** Every function, often enough for its plans to be kept, with a task that is not there. */
  async function callEverything(store: Store): Promise<void> {
    const task = { task: v7(), entry: 1 };
    await store.admissionPass(async (admission) => {
      await admission.makeDue(10);
      await admission.markAdmitted(epoch, [task]);
    });
    await store.claimTasks({ worker: '1', epoch, claims: [claimOf(task.task)] });
    await store.writeProgress('1', [{ ...task, progress: [1] }]);
    await store.finishTasks('1', [{ ...task, state: 'completed', result: 1 }]);
    const error = { code: 'Boom', message: 'boom' };
    await store.finishTasks('1', [{ ...task, state: 'retry', error, delayMs: 0 }]);
    await store.giveBackTasks('1', [task]);
    const lost = await register(store);
    await store.reapWorker(lost);
    await settleLost(store, lost, task);
    await store.settleLostLocks(lost);
    await store.removeWorker(lost);
    await store.discardTasks('1', [task.task]);
    await store.waitEdges([task.task]);
    await store.pauseQueue('nobody');
    await store.resumeQueue('nobody');
    await store.retryTask(task.task);
    await store.cancelTask(task.task);
    await store.retryPage({ state: 'failed', name: 'nobody', from: null, limit: 10 });
    await store.insertTasks([newTask({ name: 'name-1', uniqueKey: v7(), uniqueMode: 'replace' })]);
  }

  describe.each([
    ['kept since the table was empty', 0],
    ['made without statistics', 1],
  ])('by plans %s', (_, half) => {
    let explaining: ExplainingDatabase;
    let store: Store;
    beforeAll(async () => {
      explaining = half === 0 ? old : await openExplainingDatabase(sharedPostgresUrl());
      store = createStore(explaining, opened.namespace);
    });
    afterAll(async () => {
      if (explaining !== old) await explaining?.close();
    });

    /** The plans of a call: none reads the table of tasks as a whole, nor more pages than `buffers`. */
    async function expectCheap(buffers: number, call: () => Promise<unknown>): Promise<void> {
      const plans = await explaining.plansOf(call);
      expect(plans.length).toBeGreaterThan(0);
      for (const plan of plans) {
        const scans = nodesOf(plan.Plan).filter((node) => node['Relation Name'] === 'tasks');
        const kinds = scans.map((node) => node['Node Type']);
        expect(kinds, plan['Query Text']).not.toContain('Seq Scan');
        expect(plan.JIT, plan['Query Text']).toBeUndefined();
        expect(buffersOf(plan), `${plan['Query Text']}\n${JSON.stringify(plan.Plan, null, 1)}`).toBeLessThan(
          buffers,
        );
      }
    }

    /** Tasks of a kind, by what fillWithMillion does: others for each half of the tests, and for each use. */
    function tasksOf(kind: keyof typeof share, use: number): TaskEntry[] {
      const kinds = Object.keys(share) as (keyof typeof share)[];
      const from = kinds.slice(0, kinds.indexOf(kind)).reduce((sum, name) => sum + share[name], 0);
      const tasks: TaskEntry[] = [];
      for (let n = 1; tasks.length < (2 * use + half + 1) * batch; n += 1) {
        const k = Number((BigInt(n) * 7_919n) % 1_000_000n);
        if (k >= from && k < from + share[kind]) tasks.push({ task: taskId(n), entry: 1 });
      }
      return tasks.slice(-batch);
    }

    test('a page of an audit', async () => {
      const [from] = tasksOf('admitted', 0);
      await expectCheap(4_000, () => store.unsettledTasks({ after: from?.task ?? null, limit: 100 }));
      await expectCheap(1_000, () => store.auditedTasks([from?.task ?? '']));
    });

    test('admissionNeeded', async () => {
      await expectCheap(600, () => store.admissionNeeded(epoch));
      await expectCheap(600, () => store.admissionNeeded('1000000'));
    });

    test('lanesToAdmit, tasksToAdmit, markAdmitted', async () => {
      await expectCheap(3_000, () =>
        store.admissionPass(async (admission) => {
          const lanes = await admission.lanesToAdmit(epoch);
          expect(lanes).toHaveLength(21);
          const served = lanes.filter((lane) => !lane.includes('unserved'));
          const tasks = await admission.tasksToAdmit({ epoch, lanes: served, afterPlace: '0', limit: batch });
          expect(tasks).toHaveLength(batch);
          const entries = tasks.map(({ id, entry }) => ({ task: id, entry }));
          expect(await admission.markAdmitted(epoch, entries)).toEqual([]);
        }),
      );
    });

    test('makeDue', async () => {
      await expectCheap(5_000, () =>
        store.admissionPass(async (admission) => {
          expect(await admission.makeDue(batch)).toBe(batch);
        }),
      );
    });

    test('claimTasks, writeProgress, giveBackTasks', async () => {
      const tasks = tasksOf('admitted', 0);
      await expectCheap(5_000, async () => {
        const claims = tasks.map(({ task }) => claimOf(task));
        const outcome = await store.claimTasks({ worker: '1', epoch, claims });
        expect(outcome).toMatchObject({ status: 'claimed', refused: [] });
        expect(await store.claimTasks({ worker: '1', epoch, claims })).toMatchObject({ claimed: [] });
        await store.writeProgress(
          '1',
          tasks.map((task) => ({ ...task, progress: [1] })),
        );
        const given = await store.giveBackTasks('1', tasks);
        expect(given.map(({ nextEntry }) => nextEntry)).toEqual(tasks.map(() => 2));
      });
    });

    test('finishTasks', async () => {
      const tasks = tasksOf('admitted', 1);
      await store.claimTasks({ worker: '2', epoch, claims: tasks.map(({ task }) => claimOf(task)) });
      await expectCheap(5_000, async () => {
        const outcomes = await store.finishTasks('2', [
          ...tasks.slice(0, 50).map((task) => ({ ...task, state: 'completed' as const, result: 1 })),
          ...tasks.slice(50).map((task) => {
            const error = { code: 'Boom', message: 'boom' };
            return { ...task, state: 'retry' as const, error, delayMs: 1_000 };
          }),
        ]);
        expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['completed', 'waiting']));
      });
    });

    test('runningOf, listWorkers, reapWorker, settleLostTask, removeWorker', async () => {
      await expectCheap(2_000, async () => {
        const worker = String(7 + half);
        const running = await store.runningOf(worker);
        expect(running.length).toBeGreaterThan(50);
        await store.reapWorker(worker);
        for (const task of running.slice(0, 5)) await settleLost(store, worker, task);
        expect(await store.removeWorker(worker)).toBe('running');
        expect(await store.listWorkers({ after: '1', limit: 10 })).toHaveLength(10);
      });
    });

    test('insertRunning, requestLock, waitEdges, discardTasks, settleLostLocks, removeWorker', async () => {
      const api = await register(store, { kind: 'api' });
      const parent = taskId(500_000);
      const inserts = Array.from({ length: 5 }, () => insertOf(api, epoch, { lock: true, parent }));
      const requests = Array.from({ length: 5 }, () => requestOf(api, { parent }));
      await expectCheap(2_000, async () => {
        for (const insert of inserts) expect((await store.insertRunning(insert)).status).toBe('running');
        for (const request of requests) expect(await store.requestLock(request)).toBe('requested');
        const [edges] = await store.waitEdges([parent]);
        expect(edges?.requests).toHaveLength(5);
        const ids = [...inserts.map(({ task }) => task.id), ...requests.map(({ lock }) => lock.id)];
        expect(await store.discardTasks(api, ids.slice(3, 8))).toBe('discarded');
        expect(await store.removeWorker(api)).toBe('running');
        await store.reapWorker(api);
        expect(await store.settleLostLocks(api)).toHaveLength(3);
        expect(await store.removeWorker(api)).toBe('removed');
      });
    });

    test('retryPage', async () => {
      await expectCheap(20_000, () =>
        store.retryPage({ state: 'failed', name: null, from: null, limit: batch }),
      );
      await expectCheap(20_000, () =>
        store.retryPage({ state: 'failed', name: 'name-3', from: null, limit: batch }),
      );
    });

    test('insertTasks with a unique key', async () => {
      await expectCheap(200, () => store.insertTasks([newTask({ name: 'name-1', uniqueKey: v7() })]));
      await expectCheap(200, () =>
        store.insertTasks([newTask({ name: 'name-1', uniqueKey: v7(), uniqueMode: 'replace' })]),
      );
    });

    test('the running tasks of a rebuild', async () => {
      // It reads all that run, and nothing else: 5,000 of a million.
      await expectCheap(12_000, () =>
        store.rebuild(async (rebuild) => {
          const page = await rebuild.runningLike({ after: null, limit: batch });
          expect(page).toHaveLength(batch);
        }),
      );
    });

    test('getTask, settledAmong', async () => {
      await expectCheap(20, () => store.getTask(taskId(500_000)));
      const ids = Array.from({ length: batch }, (_, index) => taskId(1 + index * 9_000));
      await expectCheap(1_000, async () => {
        expect((await store.settledAmong(ids)).length).toBeGreaterThan(50);
      });
    });

    test.each([
      ['no filter', {}],
      ['the state that most have', { states: ['completed' as const] }],
      ['a state that few have', { states: ['running' as const] }],
      ['a state that none has', { states: ['canceled' as const] }],
      ['several states', { states: ['waiting' as const, 'failed' as const] }],
      ['a name', { name: 'name-3' }],
      ['a name that none has', { name: 'nobody' }],
      ['a name and a rare state', { name: 'name-3', states: ['running' as const] }],
    ])('listTasks with %s, from its beginning and from the middle', async (_, filter) => {
      await expectCheap(600, () => store.listTasks({ ...filter, after: null, limit: batch }));
      await expectCheap(600, () => store.listTasks({ ...filter, after: taskId(500_000), limit: batch }));
    });
  });
});

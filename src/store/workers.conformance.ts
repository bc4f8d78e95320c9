import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Policies } from './store.js';
import {
  claimOne,
  insertOne,
  mustGet,
  newWorker,
  openEpoch,
  register,
  runningTask,
  somePolicies,
  settleLost,
} from '../../test/store/rows.js';

/** Registration, beats, reaping, and the settling of what a dead worker ran. */
export function workersConformance(open: () => Promise<OpenStore>): void {
  describe('workers', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('each registration is a new incarnation, also under the same name', async () => {
      const [one, two] = [await register(opened.store), await register(opened.store)];
      expect(BigInt(two)).toBeGreaterThan(BigInt(one));
    });

    test('a worker reads back as it was registered, online, with what it runs', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      const workers = await store.listWorkers({ after: String(BigInt(worker) - 1n), limit: 1 });
      expect(workers).toHaveLength(1);
      const { tableFormat: _, ...registered } = newWorker();
      expect(workers[0]).toMatchObject({ ...registered, incarnation: worker, counter: '0', reaped: false });
      expect(workers[0]).toMatchObject({ online: true, running: [id] });
      expect(workers[0]?.startedAt).toMatch(/Z$/);
    });

    test('workers are listed in order of incarnation, by pages', async () => {
      const { store } = opened;
      const all = await store.listWorkers({ after: null, limit: 1_000 });
      const incarnations = all.map(({ incarnation }) => BigInt(incarnation));
      expect(incarnations).toEqual(incarnations.toSorted((a, b) => (a < b ? -1 : 1)));
      const page = await store.listWorkers({ after: all[0]?.incarnation ?? null, limit: 1 });
      expect(page).toEqual([all[1]]);
      await expect(store.listWorkers({ after: 'x', limit: 1 })).rejects.toMatchObject({
        code: 'InvalidTask',
      });
    });

    test('a beat raises the counter until the worker is reaped, for good', async () => {
      const { store } = opened;
      const worker = await register(store);
      expect(await store.beat(worker)).toBe('beaten');
      expect(await store.beat(worker)).toBe('beaten');
      const page = { after: String(BigInt(worker) - 1n), limit: 1 };
      expect(await store.listWorkers(page)).toMatchObject([{ counter: '2' }]);
      expect(await store.reapWorker(worker)).toBe('reaped');
      expect(await store.reapWorker(worker)).toBe('already');
      expect(await store.beat(worker)).toBe('reaped');
      expect(await store.listWorkers(page)).toMatchObject([{ counter: '2', reaped: true, online: false }]);
      expect(await store.beat('999999')).toBe('reaped');
      expect(await store.reapWorker('999999')).toBe('gone');
    });

    test('what live workers serve comes once, and an api serves its own lane alone', async () => {
      const { store } = opened;
      const served = { queues: ['q1', 'q2'], names: ['special'], versions: { lib: '1.2.3' } };
      const [one, two] = [await register(store, served), await register(store, served)];
      const api = await register(store, { ...served, kind: 'api', names: ['never'] });
      const special = async (): Promise<unknown[]> =>
        (await store.servingWorkers()).filter(
          ({ names }) => names.includes('special') || names.includes('never'),
        );
      expect(await special()).toEqual(
        expect.arrayContaining([
          { ...served, requester: null },
          { ...served, names: ['never'], requester: api },
        ]),
      );
      expect(await special()).toHaveLength(2);
      for (const worker of [one, two, api]) await store.reapWorker(worker);
      expect(await special()).toEqual([]);
    });

    test('a worker is removed when it runs nothing', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      expect(await store.removeWorker(worker)).toBe('running');
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: null }]);
      expect(await store.removeWorker(worker)).toBe('removed');
      expect(await store.removeWorker(worker)).toBe('removed');
      expect(await store.beat(worker)).toBe('reaped');
      expect((await mustGet(store, id)).worker).toEqual({ name: 'w1', incarnation: worker });
    });
  });

  describe('settling what a lost worker ran', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    const lost = { code: 'WorkerLost', message: 'Worker has gone missing.' };
    const once: Policies = { ...somePolicies, maxAttempts: 1 };

    /** Claims the task with a new worker, loses it, settles the task; as often as `times`. */
    async function lose(policies: Policies | null, times = 1): Promise<{ id: string; outcomes: unknown[] }> {
      const { store } = opened;
      const { id } = await insertOne(store, { policies });
      const outcomes: unknown[] = [];
      for (let entry = 1; entry <= times; entry += 1) {
        const worker = await register(store);
        await claimOne(store, worker, { task: id, entry });
        await store.reapWorker(worker);
        outcomes.push(await settleLost(store, worker, { task: id, entry }));
      }
      return { id, outcomes };
    }

    test('with policies that do not say it fails: one attempt is the default', async () => {
      const { id, outcomes } = await lose({} as Policies);
      expect(outcomes).toEqual([{ outcome: 'settled' }]);
      expect(await mustGet(opened.store, id)).toMatchObject({ state: 'failed', crashes: 1, error: lost });
    });

    test('without policies, which are written before a handler begins, it is given back and not counted', async () => {
      const { id, outcomes } = await lose(null, 4);
      expect(outcomes.at(-1)).toEqual({ outcome: 'given-back', nextEntry: 5 });
      expect(await mustGet(opened.store, id)).toMatchObject({ state: 'waiting', crashes: 0, attempt: 0 });
    });

    test('it counts as a failed attempt, and the last one fails', async () => {
      const policies = { ...somePolicies, maxAttempts: 2 };
      const { id, outcomes } = await lose(policies, 2);
      expect(outcomes).toEqual([{ outcome: 'given-back', nextEntry: 2 }, { outcome: 'settled' }]);
      const row = await mustGet(opened.store, id);
      expect(row).toMatchObject({ state: 'failed', attempt: 2, crashes: 2, entry: 2 });
      expect(row.error).toEqual(lost);
    });

    test('what is given back waits at its place with its attempt counted, and can be claimed', async () => {
      const { store } = opened;
      const { id } = await lose({ ...somePolicies, maxAttempts: 2 });
      const row = await mustGet(store, id);
      expect(row).toMatchObject({
        state: 'waiting',
        entry: 2,
        attempt: 1,
        crashes: 1,
        worker: null,
        fence: null,
      });
      expect((await claimOne(store, await register(store), { task: id, entry: 2 })).place).toBe(row.place);
    });

    test('with retry no attempt is counted, until it has crashed too often', async () => {
      const { id, outcomes } = await lose({ ...somePolicies, maxAttempts: 1, onWorkerLost: 'retry' }, 3);
      expect(outcomes).toEqual([
        { outcome: 'given-back', nextEntry: 2 },
        { outcome: 'given-back', nextEntry: 3 },
        { outcome: 'settled' },
      ]);
      const error = { ...lost, reason: 'crashed' };
      expect(await mustGet(opened.store, id)).toMatchObject({
        state: 'failed',
        crashes: 3,
        attempt: 1,
        error,
      });
    });

    test('with fail it always fails', async () => {
      const { id, outcomes } = await lose({ ...somePolicies, onWorkerLost: 'fail' });
      expect(outcomes).toEqual([{ outcome: 'settled' }]);
      expect((await mustGet(opened.store, id)).error).toEqual(lost);
    });

    test('a task of a worker that has no row any more is settled alike', async () => {
      const { store, database, namespace } = opened;
      const { id, worker } = await runningTask(store, { policies: once });
      await database.query(`DELETE FROM "${namespace}".workers WHERE incarnation = $1`, [worker]);
      expect(await settleLost(store, worker, { task: id, entry: 1 })).toEqual({ outcome: 'settled' });
    });

    test('a worker that was not reaped, another entry, or a task settled already is refused', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store, { policies: once });
      const other = await register(store);
      const refused = { outcome: 'refused' };
      expect(await settleLost(store, worker, { task: id, entry: 1 })).toEqual(refused);
      await store.reapWorker(worker);
      await store.reapWorker(other);
      expect(await settleLost(store, other, { task: id, entry: 1 })).toEqual(refused);
      expect(await settleLost(store, worker, { task: id, entry: 2 })).toEqual(refused);
      expect(await settleLost(store, worker, { task: id, entry: 1 })).toEqual({ outcome: 'settled' });
      expect(await settleLost(store, worker, { task: id, entry: 1 })).toEqual(refused);
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Policies, TaskEntry } from './store.js';
import {
  claimOne,
  insertOf,
  insertOne,
  mustGet,
  openEpoch,
  register,
  rollingBack,
  settleLost,
  somePolicies,
  withRollback,
} from '../../test/store/rows.js';

const again: Policies = { ...somePolicies, onWorkerLost: 'retry' };

/** Many tasks of a lost worker in one call, and those of one that had said that it stopped itself. */
export function settlingConformance(open: () => Promise<OpenStore>): void {
  let opened: OpenStore;
  let epoch: string;
  let worker: string;
  beforeAll(async () => {
    opened = await open();
    epoch = await openEpoch(opened.store);
  });
  afterAll(() => opened?.close());

  /** Tasks that a new worker runs. */
  async function running(...policies: (Policies | null)[]): Promise<TaskEntry[]> {
    const { store } = opened;
    worker = await register(store);
    const tasks: TaskEntry[] = [];
    for (const given of policies) {
      const { id } = await insertOne(store, { policies: given });
      await claimOne(store, worker, { task: id, entry: 1 });
      tasks.push({ task: id, entry: 1 });
    }
    return tasks;
  }

  describe('settling many tasks of a lost worker', () => {
    test('gives each its own answer, in order, whatever the order of the ids', async () => {
      const { store } = opened;
      const tasks = await running({ ...somePolicies, maxAttempts: 1 }, again, withRollback, again, again);
      const [fails, waits, rollsBack, canceled, other] = tasks as [TaskEntry, ...TaskEntry[]];
      await store.cancelTask(canceled?.task ?? '');
      const { id } = await rollingBack(store, { state: 'failed', error: { code: 'E', message: 'e' } });
      await claimOne(store, worker, { task: id, entry: 2 });
      const lock = insertOf(worker, epoch, { lock: true });
      await store.insertRunning(lock);
      await store.reapWorker(worker);
      const asked = [
        ...[{ task: lock.task.id, entry: 1 }, { task: id, entry: 2 }, canceled, rollsBack, waits, fails],
        { task: other?.task ?? '', entry: 2 },
      ] as TaskEntry[];
      expect(await store.settleLostTasks(worker, asked)).toEqual([
        { outcome: 'settled' },
        { outcome: 'given-back', nextEntry: 3 },
        { outcome: 'settled' },
        { outcome: 'given-back', nextEntry: 2 },
        { outcome: 'given-back', nextEntry: 2 },
        { outcome: 'settled' },
        { outcome: 'refused' },
      ]);
      const rows = await Promise.all([...tasks, { task: id }].map(({ task }) => mustGet(store, task)));
      expect(rows.map(({ state, entry, crashes }) => ({ state, entry, crashes }))).toEqual([
        { state: 'failed', entry: 1, crashes: 1 },
        { state: 'waiting', entry: 2, crashes: 1 },
        { state: 'rolling_back', entry: 2, crashes: 1 },
        { state: 'canceled', entry: 1, crashes: 1 },
        { state: 'running', entry: 1, crashes: 0 },
        { state: 'rolling_back', entry: 3, crashes: 1 },
      ]);
      expect(await store.getTask(lock.task.id)).toBeNull();
      expect(await store.settleLostTasks(worker, [])).toEqual([]);
    });

    test('settles nothing while the worker lives, and none of another worker', async () => {
      const { store } = opened;
      const mine = await running(again);
      const others = await running(again, again);
      const refused = [...mine, ...others].map(() => ({ outcome: 'refused' }));
      expect(await store.settleLostTasks(worker, [...mine, ...others])).toEqual(refused);
      await store.reapWorker(worker);
      expect(await store.settleLostTasks(worker, [...mine, ...others])).toMatchObject([
        { outcome: 'refused' },
        { outcome: 'given-back' },
        { outcome: 'given-back' },
      ]);
      expect(await mustGet(store, mine[0]?.task ?? '')).toMatchObject({ state: 'running', entry: 1 });
    });
  });

  describe('a worker that had said that it stopped itself', () => {
    async function loseAfterSaying(policies: Policies | null): Promise<string> {
      const [task = { task: '', entry: 1 }] = await running(policies);
      await opened.store.sayStopped(worker);
      await opened.store.reapWorker(worker);
      await settleLost(opened.store, worker, task);
      return task.task;
    }

    test.each([
      ['by default', null],
      ['with attempts left', { ...somePolicies, maxAttempts: 2 }],
      ['with onWorkerLost: retry', again],
      ['with maxCrashes: 1', { ...somePolicies, maxCrashes: 1 }],
    ])('has its task given back as by a planned stop, %s', async (_, policies) => {
      const row = await mustGet(opened.store, await loseAfterSaying(policies));
      expect(row).toMatchObject({ state: 'waiting', entry: 2, attempt: 0, crashes: 0, error: null });
      expect(row.attempts).toMatchObject([{ attempt: 1, outcome: 'given-back', error: null }]);
    });

    test('has its task fail where that may not run twice, and no crash counted', async () => {
      const row = await mustGet(
        opened.store,
        await loseAfterSaying({ ...somePolicies, maxCrashes: 1, onWorkerLost: 'fail' }),
      );
      expect(row).toMatchObject({ state: 'failed', crashes: 0, attempts: [{ outcome: 'lost' }] });
      expect(row.error).toEqual({ code: 'WorkerLost', message: 'Worker has gone missing.' });
    });

    test('has its task rolled back, and then it waits', async () => {
      const { store } = opened;
      const id = await loseAfterSaying(withRollback);
      const row = await mustGet(store, id);
      expect(row).toMatchObject({ state: 'rolling_back', entry: 2, crashes: 0, error: null });
      expect(row).toMatchObject({
        rollback: { outcome: 'given-back' },
        attempts: [{ outcome: 'given-back' }],
      });
      const next = await register(store);
      await claimOne(store, next, { task: id, entry: 2 });
      await store.sayStopped(next);
      await store.reapWorker(next);
      expect(await settleLost(store, next, { task: id, entry: 2 })).toMatchObject({ nextEntry: 3 });
      const again = await mustGet(store, id);
      expect(again).toMatchObject({ state: 'rolling_back', entry: 3, crashes: 0 });
      expect(again.attempts.at(-1)).toMatchObject({ outcome: 'rollback-given-back' });
    });

    test('cannot say so once it is reaped', async () => {
      const { store } = opened;
      const [task = { task: '', entry: 1 }] = await running(again);
      await store.reapWorker(worker);
      await store.sayStopped(worker);
      await settleLost(store, worker, task);
      expect(await mustGet(store, task.task)).toMatchObject({ state: 'waiting', crashes: 1 });
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { LostHoldOutcome } from './lost-workers.js';
import {
  claimOne,
  insertOf,
  insertOne,
  mustGet,
  newWorker,
  openEpoch,
  register,
  requestOf,
  rollingBack,
  runningTask,
  somePolicies,
  withRollback,
  settleLost,
} from '../../test/store/rows.js';

/** What recovery asks the store, and what becomes of the holds of the dead. */
export function lostWorkersConformance(open: () => Promise<OpenStore>): void {
  describe('observing workers', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('tells of every worker in order what shows whether it lives', async () => {
      const { store } = opened;
      const [one, two] = [await register(store, { name: 'one' }), await register(store, { ttlMs: 500 })];
      await store.beat(one);
      await store.reapWorker(two);
      const observed = await store.observeWorkers();
      expect(observed.slice(-2)).toEqual([
        { incarnation: one, name: 'one', counter: '1', ttlMs: 15_000, reaped: false },
        { incarnation: two, name: 'w1', counter: '0', ttlMs: 500, reaped: true },
      ]);
      const incarnations = observed.map(({ incarnation }) => BigInt(incarnation));
      expect(incarnations).toEqual(incarnations.toSorted((a, b) => (a < b ? -1 : 1)));
    });

    test('finds those of one name and of no other, with what identifies their processes', async () => {
      const { store } = opened;
      const name = 'only:1';
      const one = await register(store, { name, pid: 7, identity: { bootId: 'x', podUid: 'y' } });
      await register(store, { name: 'only' });
      await register(store, { name: 'only:10' });
      const two = await register(store, { name });
      await store.reapWorker(two);
      expect(await store.workersNamed(name)).toEqual([
        { incarnation: one, pid: 7, identity: { bootId: 'x', podUid: 'y' }, counter: '0', reaped: false },
        { incarnation: two, pid: 42, identity: newWorker().identity, counter: '0', reaped: true },
      ]);
      expect(await store.workersNamed('nobody')).toEqual([]);
    });

    test('tells which of some incarnations have a row, reaped or not', async () => {
      const { store } = opened;
      const [one, two] = [await register(store), await register(store)];
      await store.reapWorker(two);
      const found = await store.workersAmong([two, '999999999999', one]);
      expect(found.toSorted()).toEqual([one, two].toSorted());
      expect(await store.workersAmong([])).toEqual([]);
    });

    test('remembers the longest TTL, also of workers that are gone', async () => {
      const { store } = opened;
      const before = await store.longestTtlMs();
      const long = await register(store, { ttlMs: before + 1_000 });
      await register(store, { ttlMs: 1 });
      await store.reapWorker(long);
      await store.removeWorker(long);
      expect(await store.longestTtlMs()).toBe(before + 1_000);
    });

    test('with a counter it reaps only where that is the one that stands', async () => {
      const { store } = opened;
      const worker = await register(store);
      await store.beat(worker);
      expect(await store.reapWorker(worker, '0')).toBe('alive');
      expect(await store.beat(worker)).toBe('beaten');
      expect(await store.reapWorker(worker, '3')).toBe('alive');
      expect(await store.reapWorker(worker, '2')).toBe('reaped');
      expect(await store.reapWorker(worker, '2')).toBe('already');
      expect(await store.reapWorker('999999', '2')).toBe('gone');
    });
  });

  describe('settling the holds of a lost worker', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    async function dead(): Promise<string> {
      const worker = await register(opened.store);
      await opened.store.reapWorker(worker);
      return worker;
    }

    async function outcome(worker: string, task: string, entry = 1): Promise<LostHoldOutcome | undefined> {
      const outcomes = await opened.store.settleLostHolds(worker, [{ task, entry }]);
      if (outcomes === 'refused') throw new Error('It was refused.');
      return outcomes[0];
    }

    test('nothing is answered while the worker may live', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      const holds = [{ task: id, entry: 1 }];
      expect(await store.settleLostHolds(await register(store), holds)).toBe('refused');
      expect(await mustGet(store, id)).toMatchObject({ entry: 1 });
    });

    test('one that was claimed in the table only is given back at its place under the next entry', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      const { place } = await mustGet(store, id);
      const worker = await dead();
      expect(await outcome(worker, id)).toBe(2);
      const row = { state: 'waiting', entry: 2, place, attempt: 0, crashes: 0, worker: null };
      expect(await mustGet(store, id)).toMatchObject(row);
      expect(await outcome(worker, id)).toBe('later');
      expect(await mustGet(store, id)).toMatchObject(row);
    });

    test('also where the worker has no row any more', async () => {
      const { id } = await insertOne(opened.store);
      expect(await outcome('999999', id)).toBe(2);
    });

    test('one whose task runs with that very entry is not settled, whoever runs it', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      expect(await outcome(await dead(), id)).toBe('unsettled');
      await store.reapWorker(worker);
      expect(await outcome(worker, id)).toBe('unsettled');
    });

    test('one whose task ended, is unknown, or runs with a later entry is over', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: null }]);
      expect(await outcome(await dead(), id)).toBe('over');
      expect(await outcome(await dead(), '01890000-0000-7000-8000-000000000000')).toBe('over');
      const again = await runningTask(store, { policies: { ...somePolicies, onWorkerLost: 'retry' } });
      await store.reapWorker(again.worker);
      await settleLost(store, again.worker, { task: again.id, entry: 1 });
      expect(await outcome(again.worker, again.id)).toBe('later');
      await claimOne(store, await register(store), { task: again.id, entry: 2 });
      expect(await outcome(again.worker, again.id)).toBe('over');
    });

    test('one of a roll-back that nobody has begun is given back to be rolled back', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error: { code: 'E', message: 'e' } });
      const { place } = await mustGet(store, id);
      expect(await outcome(await dead(), id, 2)).toBe(3);
      expect(await mustGet(store, id)).toMatchObject({ state: 'rolling_back', entry: 3, place, attempt: 1 });
    });

    test('one of a paused queue is over, but not that of a roll-back', async () => {
      const { store } = opened;
      const queue = 'paused';
      const { id } = await insertOne(store, { queue });
      const { id: rolls, worker } = await runningTask(store, { queue, policies: withRollback });
      await store.reapWorker(worker);
      await store.pauseQueue(queue);
      const { entry } = await mustGet(store, id);
      expect(await outcome(await dead(), id, entry)).toBe('over');
      expect((await mustGet(store, id)).entry).toBe(entry + 1);
      await settleLost(store, worker, { task: rolls, entry: 1 });
      expect(await outcome(worker, rolls)).toBe('later');
      expect(await outcome(worker, rolls, 2)).toBe(3);
    });

    test('one of an ad-hoc lock is over, held or waited for', async () => {
      const { store } = opened;
      const worker = await register(store);
      const held = insertOf(worker, epoch, { lock: true });
      const asked = requestOf(worker);
      await store.insertRunning(held);
      await store.requestLock(asked);
      await store.reapWorker(worker);
      expect(await outcome(worker, held.task.id)).toBe('over');
      expect(await outcome(worker, asked.lock.id)).toBe('over');
      expect(await store.settleLostLocks(worker)).toEqual([held.task.id]);
    });

    test('each is answered in its place, whatever the order of the ids', async () => {
      const { store } = opened;
      const [one, two, three] = [await insertOne(store), await insertOne(store), await insertOne(store)];
      await store.cancelTask(two.id);
      const holds = [three, two, one].map(({ id }) => ({ task: id, entry: 1 }));
      expect(await store.settleLostHolds(await dead(), holds)).toEqual([2, 'over', 2]);
      expect(await store.settleLostHolds(await dead(), [])).toEqual([]);
    });
  });
}

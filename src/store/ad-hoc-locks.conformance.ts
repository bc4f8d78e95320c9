import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { TaskEntry, TaskRow } from './store.js';
import { v7 } from 'uuid';
import {
  claimOf,
  claimOne,
  insertOf,
  insertOne,
  mustGet,
  newTask,
  openEpoch,
  register,
  requestOf,
  settleLost,
} from '../../test/store/rows.js';
import { laneText } from '../lane.js';

/** What a process inserts for itself: ad-hoc locks, held or waited for, and tasks that run at once. */
export function adHocLocksConformance(open: () => Promise<OpenStore>): void {
  describe('ad-hoc locks and immediate tasks', () => {
    let opened: OpenStore;
    let epoch: string;
    let api: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
      api = await register(opened.store, { kind: 'api', name: 'web' });
    });
    afterAll(() => opened?.close());

    async function request(requester = api): Promise<string> {
      const asked = requestOf(requester);
      expect(await opened.store.requestLock(asked)).toBe('requested');
      return asked.lock.id;
    }

    async function hold(requester = api): Promise<TaskRow> {
      const outcome = await opened.store.insertRunning(insertOf(requester, epoch, { lock: true }));
      if (outcome.status !== 'running') throw new Error(outcome.status);
      return outcome.row;
    }

    async function takeOutAll(): Promise<TaskEntry[]> {
      const pass = await opened.store.admissionPass(async (admission) => {
        const marked = await admission.markedTakeOuts(1_000);
        await admission.clearTakeOuts(marked);
        return marked;
      });
      return pass === 'busy-elsewhere' ? [] : pass;
    }

    test('a task that runs from the start is one like any other', async () => {
      const { store } = opened;
      const insert = insertOf(api, epoch, { payload: { a: [1] }, needs: { ffmpeg: '>=6' }, priority: 3 });
      const outcome = await store.insertRunning(insert);
      const row = await mustGet(store, insert.task.id);
      expect(outcome).toEqual({ status: 'running', row });
      expect(row).toMatchObject({
        ...{ state: 'running', entry: 1, attempt: 1, fence: insert.fence, payload: { a: [1] } },
        worker: { name: 'web', incarnation: api },
        lane: laneText(insert.task),
      });
      const finish = { task: row.id, entry: 1, state: 'completed' as const, result: 1 };
      expect(await store.finishTasks(api, [finish])).toMatchObject([{ outcome: 'completed' }]);
    });

    test('what runs from the start is refused in another epoch, and to a worker that was reaped', async () => {
      const { store } = opened;
      const older = insertOf(api, String(BigInt(epoch) - 1n));
      expect(await store.insertRunning(older)).toEqual({ status: 'epoch' });
      const dead = await register(store, { kind: 'api' });
      await store.reapWorker(dead);
      const late = insertOf(dead, epoch);
      expect(await store.insertRunning(late)).toEqual({ status: 'reaped' });
      const asked = requestOf(dead);
      expect(await store.requestLock(asked)).toBe('reaped');
      expect(await store.voidInserts(dead, 1)).toBe('reaped');
      for (const { id } of [older.task, late.task, asked.lock]) expect(await store.getTask(id)).toBeNull();
    });

    test('an insert whose number was passed inserts nothing, however late it comes', async () => {
      const { store } = opened;
      const other = await register(store, { kind: 'api' });
      const [insert, asked] = [insertOf(other, epoch), requestOf(other)];
      expect(await store.voidInserts(other, asked.number)).toBe('void');
      expect(await store.voidInserts(other, 1)).toBe('void');
      expect(await store.insertRunning(insert)).toEqual({ status: 'void' });
      expect(await store.requestLock(asked)).toBe('void');
      expect(await store.requestLock(requestOf(other))).toBe('requested');
      expect(await store.getTask(insert.task.id)).toBeNull();
    });

    test('a request waits in the lane of its requester, who alone may claim it', async () => {
      const { store } = opened;
      const id = await request();
      const row = await mustGet(store, id);
      const lane = laneText({ queue: row.queue, name: row.name, needs: {}, requester: api });
      expect(row).toMatchObject({ state: 'waiting', entry: 1, lane });
      const worker = await register(store);
      const stolen = await store.claimTasks({ worker, epoch, claims: [claimOf(id)] });
      expect(stolen).toMatchObject({ claimed: [], refused: [{ task: id, runsHere: false }] });
      expect(await claimOne(store, api, { task: id, entry: 1 })).toMatchObject({ state: 'running', id });
      await store.discardTasks(api, [id]);
      expect(await store.getTask(id)).toBeNull();
    });

    test('a lock is not given back, canceled or brought to another end', async () => {
      const { store } = opened;
      const ids = [await request(), (await hold()).id];
      const before = await Promise.all(ids.map((id) => mustGet(store, id)));
      const entries = ids.map((task) => ({ task, entry: 1 }));
      expect(await store.giveBackTasks(api, entries)).toMatchObject([
        { nextEntry: 'refused' },
        { nextEntry: 'refused' },
      ]);
      expect(await store.cancelTask(ids[0] ?? '')).toEqual({ before: 'waiting', after: 'waiting' });
      expect(await store.cancelTask(ids[1] ?? '')).toEqual({ before: 'running', after: 'running' });
      const finish = { task: ids[1] ?? '', entry: 1, state: 'completed' as const, result: 1 };
      await expect(store.finishTasks(api, [finish])).rejects.toThrow('lock_is_its_requesters');
      expect(await Promise.all(ids.map((id) => mustGet(store, id)))).toEqual(before);
      await store.discardTasks(api, ids);
      await takeOutAll();
    });

    test('a new epoch enters a held lock as owned', async () => {
      const { store } = opened;
      const { id, fence } = await hold();
      const running = await store.rebuild((rebuild) => rebuild.runningLike({ after: null, limit: 1_000 }));
      const owner = { name: 'web', incarnation: api };
      expect(running.find((task) => task.id === id)).toMatchObject({ owner, fence, entry: 1 });
      await store.discardTasks(api, [id]);
    });

    test('of a lock that is let go nothing stays, and of one given up nothing once its hold is out', async () => {
      const { store } = opened;
      const [held, asked, task] = [(await hold()).id, await request(), (await insertOne(store)).id];
      const other = await register(store, { kind: 'api' });
      const others = [(await hold(other)).id, await request(other)];
      expect(await store.discardTasks(api, [held, asked, held, task, ...others, v7()])).toBe('discarded');
      expect(await store.getTask(held)).toBeNull();
      expect(await mustGet(store, asked)).toMatchObject({ state: 'canceled' });
      for (const id of [task, others[1] ?? '']) expect((await mustGet(store, id)).state).toBe('waiting');
      expect((await mustGet(store, others[0] ?? '')).state).toBe('running');
      const canceled = (await insertOne(store)).id;
      await store.cancelTask(canceled);
      expect(await takeOutAll()).toEqual([
        { task: asked, entry: 1 },
        { task: canceled, entry: 1 },
      ]);
      expect(await store.getTask(asked)).toBeNull();
      expect((await mustGet(store, canceled)).state).toBe('canceled');
      await store.discardTasks(other, others);
      await takeOutAll();
    });

    test('a requester that is reaped loses its locks, and one that lives does not', async () => {
      const { store } = opened;
      const other = await register(store, { kind: 'api', name: 'web' });
      const [held, second, asked] = [(await hold(other)).id, (await hold(other)).id, await request(other)];
      expect(await store.settleLostLocks(other)).toBe('refused');
      expect(await settleLost(store, other, { task: held, entry: 1 })).toEqual({ outcome: 'refused' });
      expect(await store.removeWorker(other)).toBe('running');
      await store.reapWorker(other);
      expect(await store.discardTasks(other, [held])).toBe('reaped');
      expect(await settleLost(store, other, { task: held, entry: 1 })).toEqual({ outcome: 'settled' });
      expect(await store.getTask(held)).toBeNull();
      expect(await store.removeWorker(other)).toBe('running');
      expect(await store.settleLostLocks(other)).toEqual([second]);
      expect(await store.settleLostLocks(other)).toEqual([]);
      expect(await takeOutAll()).toEqual([{ task: asked, entry: 1 }]);
      for (const id of [second, asked]) expect(await store.getTask(id)).toBeNull();
      expect(await store.removeWorker(other)).toBe('removed');
    });

    test('a requester is not removed while a request of it waits', async () => {
      const { store } = opened;
      const other = await register(store, { kind: 'api' });
      const asked = await request(other);
      expect(await store.removeWorker(other)).toBe('running');
      await store.discardTasks(other, [asked]);
      expect(await store.removeWorker(other)).toBe('removed');
      await takeOutAll();
    });

    test('who waits for whom is told of tasks and locks, with what a handler asked for', async () => {
      const { store } = opened;
      const parent = await insertOne(store);
      const requests = [requestOf(api, { parent: parent.id }), requestOf(api, { parent: parent.id })];
      const ids = requests.map(({ lock }) => lock.id).sort();
      for (const asked of requests) await store.requestLock(asked);
      const edges = await store.waitEdges([parent.id, ids[0] ?? '', v7()]);
      const common = { entry: 1, state: 'waiting', exclusive: ['repo:7'], shared: ['store'] };
      expect(edges).toHaveLength(2);
      expect(edges).toContainEqual({
        ...{ ...common, id: parent.id, parent: null, lock: false, requests: ids },
      });
      expect(edges).toContainEqual({
        ...{ ...common, id: ids[0], parent: parent.id, lock: true, requests: [] },
      });
      await store.discardTasks(api, ids);
      expect(await store.waitEdges([parent.id])).toMatchObject([{ requests: [] }]);
      await takeOutAll();
      await store.cancelTask(parent.id);
      await takeOutAll();
    });

    test('what the table cannot hold is InvalidTask, and nothing is inserted', async () => {
      const { store } = opened;
      const names = Array.from({ length: 1_001 }, (_, index) => `r${index}`);
      const insert = insertOf(api, epoch, { exclusive: names });
      await expect(store.insertRunning(insert)).rejects.toMatchObject({ code: 'InvalidTask' });
      const asked = requestOf(api, { ...newTask(), exclusive: names });
      await expect(store.requestLock(asked)).rejects.toMatchObject({ code: 'InvalidTask' });
      for (const { id } of [insert.task, asked.lock]) expect(await store.getTask(id)).toBeNull();
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewTask } from './store.js';
import type { OpenStore } from '../../test/store/open-store.js';
import { v7 } from 'uuid';
import {
  claimOne,
  insertOne,
  mustGet,
  newTask,
  openEpoch,
  register,
  somePolicies,
} from '../../test/store/rows.js';

/** Dispatching and reading tasks. */
export function readingConformance(open: () => Promise<OpenStore>): void {
  describe('inserting and reading tasks', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    test('a task reads back as it was inserted, waiting, at entry 1', async () => {
      const { store } = opened;
      const task = newTask({
        name: 'naïve "quoted", {braces}\\ 😀',
        payload: { nested: [1, 'two', null, { deep: true }], big: 12345678901234567000, text: '"\\\n😀' },
        exclusive: ['a,b', 'c"d', '{}', '*', 'line\nbreak', 'NULL', ' '],
        shared: ['😀', 'e\\f'],
        priority: -7,
        needs: { zlib: '>=1', ffmpeg: '>=6' },
        parent: v7(),
        policies: somePolicies,
      });
      await store.insertTasks([task]);
      const row = await mustGet(store, task.id);
      expect(row).toMatchObject({
        ...{ id: task.id, name: task.name, queue: 'default', payload: task.payload, parent: task.parent },
        ...{ exclusive: task.exclusive, shared: task.shared, priority: -7, policies: somePolicies },
        ...{
          state: 'waiting',
          entry: 1,
          attempt: 0,
          crashes: 0,
          fence: null,
          worker: null,
          readmitted: false,
        },
        ...{ runAt: null, startedAt: null, finishedAt: null, progress: [], result: null, error: null },
      });
      expect(row.place).toMatch(/^\d+$/);
      expect(row.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(JSON.parse(row.lane)).toEqual(['default', task.name, { ffmpeg: '>=6', zlib: '>=1' }]);
    });

    test('the lane is one text for the same needs in any order', async () => {
      const one = await insertOne(opened.store, { needs: { a: '1', b: '2' } });
      const other = await insertOne(opened.store, { needs: { b: '2', a: '1' } });
      expect((await mustGet(opened.store, one.id)).lane).toBe((await mustGet(opened.store, other.id)).lane);
    });

    test('places follow the order of the list', async () => {
      const tasks = Array.from({ length: 300 }, () => newTask());
      await opened.store.insertTasks(tasks);
      const rows = await Promise.all(tasks.map(({ id }) => mustGet(opened.store, id)));
      const places = rows.map(({ place }) => Number(place));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(new Set(places).size).toBe(tasks.length);
    });

    test('inserting a task again leaves it as it is', async () => {
      const task = await insertOne(opened.store);
      await opened.store.insertTasks([{ ...task, payload: 'other' }, newTask()]);
      expect((await mustGet(opened.store, task.id)).payload).toEqual(task.payload);
    });

    test('a payload that is null, or left out, is null', async () => {
      const [none, missing] = [newTask({ payload: null }), newTask({ payload: undefined })];
      await opened.store.insertTasks([none, missing]);
      expect((await mustGet(opened.store, none.id)).payload).toBeNull();
      expect((await mustGet(opened.store, missing.id)).payload).toBeNull();
    });

    test('inserting nothing is nothing', async () => {
      await opened.store.insertTasks([]);
    });

    test('what the table cannot hold is refused with InvalidTask, and nothing of the list is stored', async () => {
      const refused: Partial<NewTask>[] = [
        { payload: 'NUL: \0' },
        { payload: '\ud800' },
        { name: '' },
        { name: 'n'.repeat(1_025) },
        { queue: 'q'.repeat(1_025) },
        { priority: 40_000 },
        { needs: { library: 'x'.repeat(3_000) } },
        { exclusive: Array.from({ length: 1_001 }, (_, index) => `r${index}`) },
        { runAt: '1969-12-31T23:59:59Z' },
        { runAt: 'soon' },
      ];
      for (const task of refused) {
        const good = newTask();
        const inserting = opened.store.insertTasks([good, newTask(task)]);
        await expect(inserting, JSON.stringify(task).slice(0, 60)).rejects.toMatchObject({
          code: 'InvalidTask',
        });
        expect(await opened.store.getTask(good.id)).toBeNull();
      }
    });

    test('1,000 resources of 1 KiB, and names of 1 KiB, are stored', async () => {
      const exclusive = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(1_024, 'r'));
      const long = { name: 'n'.repeat(1_024), queue: 'q'.repeat(1_024) };
      const { id } = await insertOne(opened.store, { ...long, exclusive, shared: [] });
      expect(await mustGet(opened.store, id)).toMatchObject({ ...long, exclusive });
    });

    test('a task that is not there is null, whatever its id looks like', async () => {
      expect(await opened.store.getTask(v7())).toBeNull();
      expect(await opened.store.getTask("x'; DROP TABLE tasks")).toBeNull();
    });

    test('inserts in a transaction of the caller appear with its commit only', async () => {
      const { store, database } = opened;
      const [kept, lost] = [newTask(), newTask()];
      await database.transaction((queryable) => store.insertTasks([kept], { queryable, notify: true }));
      const failing = database.transaction(async (queryable) => {
        await store.insertTasks([lost], { queryable });
        throw new Error('changed my mind');
      });
      await expect(failing).rejects.toThrow('changed my mind');
      expect(await store.getTask(kept.id)).not.toBeNull();
      expect(await store.getTask(lost.id)).toBeNull();
    });

    test('settledAmong names those in a final state', async () => {
      const { store } = opened;
      await openEpoch(store);
      const worker = await register(store);
      const tasks = [await insertOne(store), await insertOne(store), await insertOne(store)];
      const [completed, failed] = tasks.map(({ id }) => ({ task: id, entry: 1 }));
      if (completed === undefined || failed === undefined) throw new Error('unreachable');
      await claimOne(store, worker, completed);
      await claimOne(store, worker, failed);
      await store.finishTasks(worker, [
        { ...completed, state: 'completed', result: 1 },
        { ...failed, state: 'failed', error: { code: 'Boom', message: 'boom' } },
      ]);
      const settled = await store.settledAmong([...tasks.map(({ id }) => id), v7(), 'nonsense']);
      expect(settled.sort()).toEqual([completed.task, failed.task].sort());
    });
  });
}

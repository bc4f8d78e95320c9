import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { NewTask, TaskInstead, UniqueMode } from './store.js';
import fc from 'fast-check';
import { v7 } from 'uuid';
import {
  claimOne,
  insertOne,
  mustGet,
  newTask,
  openEpoch,
  register,
  runningTask,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };

/** Unique keys: at most one unfinished task each. */
export function uniqueKeysConformance(open: () => Promise<OpenStore>): void {
  describe('unique keys', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    const insert = (...tasks: NewTask[]): Promise<TaskInstead[]> => opened.store.insertTasks(tasks);
    const keyed = (
      uniqueKey: string,
      uniqueMode: UniqueMode = 'keep',
      more: Partial<NewTask> = {},
    ): NewTask => newTask({ uniqueKey, uniqueMode, ...more });

    async function takeOuts(): Promise<string[]> {
      const marked = await opened.store.admissionPass((admission) => admission.markedTakeOuts(1_000));
      return marked === 'busy-elsewhere' ? [] : marked.map(({ task, entry }) => `${task} ${entry}`);
    }

    test('the one that is there is kept, and answered', async () => {
      const first = keyed('kept', 'keep', { payload: { n: 1 } });
      expect(await insert(first)).toEqual([]);
      const second = keyed('kept', 'keep', { payload: { n: 2 } });
      const row = await mustGet(opened.store, first.id);
      expect(row).toMatchObject({ uniqueKey: 'kept', payload: { n: 1 } });
      expect(await insert(second)).toEqual([{ given: second.id, task: row }]);
      expect(await opened.store.getTask(second.id)).toBeNull();
    });

    test('one that waits is replaced, and its hold is to be taken out', async () => {
      const first = keyed('replaced');
      const second = keyed('replaced', 'replace');
      await insert(first);
      expect(await insert(second)).toEqual([]);
      expect(await mustGet(opened.store, first.id)).toMatchObject({ state: 'canceled', error: null });
      expect((await mustGet(opened.store, first.id)).finishedAt).not.toBeNull();
      expect(await mustGet(opened.store, second.id)).toMatchObject({ state: 'waiting' });
      expect(await takeOuts()).toContain(`${first.id} 1`);
    });

    test('one that runs, or is being canceled, is kept in either mode', async () => {
      const { store } = opened;
      const { id } = await runningTask(store, { uniqueKey: 'runs' });
      for (const state of ['running', 'canceling']) {
        for (const mode of ['keep', 'replace'] as const) {
          const other = keyed('runs', mode);
          expect(await insert(other)).toMatchObject([{ given: other.id, task: { id, state } }]);
        }
        await store.cancelTask(id);
      }
    });

    test('once it is over, the key is free', async () => {
      const { store } = opened;
      for (const finish of [
        { state: 'completed' as const, result: 1 },
        { state: 'failed' as const, error },
      ]) {
        const { id, worker } = await runningTask(store, { uniqueKey: 'over' });
        await store.finishTasks(worker, [{ task: id, entry: 1, ...finish }]);
      }
      const canceled = await insertOne(store, { uniqueKey: 'over' });
      await store.cancelTask(canceled.id);
      expect(await insert(keyed('over'))).toEqual([]);
    });

    test('of several in one batch the first stays, or with replace the last', async () => {
      const kept = [keyed('batch'), newTask(), keyed('batch'), keyed('batch')];
      const instead = await insert(...kept);
      expect(instead.map(({ given, task }) => [given, task.id])).toEqual(
        [kept[2], kept[3]].map((task) => [task?.id, kept[0]?.id]),
      );
      const replacing = [keyed('batch', 'replace'), keyed('batch', 'replace')];
      const replaced = await insert(...replacing);
      expect(replaced).toMatchObject([{ given: replacing[0]?.id, task: { state: 'canceled' } }]);
      expect(await mustGet(opened.store, replacing[1]?.id ?? '')).toMatchObject({ state: 'waiting' });
    });

    test('places follow the order of the batch, whatever the keys are', async () => {
      const tasks = ['z', null, 'a', null, 'm'].map((uniqueKey) => newTask({ uniqueKey }));
      await insert(...tasks);
      const rows = await Promise.all(tasks.map(({ id }) => mustGet(opened.store, id)));
      const places = rows.map(({ place }) => Number(place));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    });

    test('inserted again after a lost reply, each is answered as it was', async () => {
      const tasks = [keyed('again', 'replace'), keyed('again', 'replace'), newTask()];
      await insert(...tasks);
      const again = await insert(...tasks);
      expect(again.map(({ given, task }) => [given, task.id, task.state])).toEqual([
        [tasks[0]?.id, tasks[0]?.id, 'canceled'],
      ]);
    });

    test('a batch that is refused stores nothing', async () => {
      const good = keyed('refused');
      await expect(insert(good, keyed('refused too', 'keep', { priority: 1e9 }))).rejects.toThrow(
        'cannot store',
      );
      expect(await opened.store.getTask(good.id)).toBeNull();
    });

    test('a retry of a task whose key is in use changes nothing', async () => {
      const { store } = opened;
      const first = await insertOne(store, { uniqueKey: 'retried' });
      await store.cancelTask(first.id);
      const second = await insertOne(store, { uniqueKey: 'retried' });
      const before = await mustGet(store, first.id);
      expect(await store.retryTask(first.id)).toEqual({ before: 'canceled', after: 'canceled' });
      expect(await mustGet(store, first.id)).toEqual(before);
      expect(await store.retryPage({ state: 'canceled', name: null, from: null, limit: 500 })).toMatchObject({
        refused: expect.any(Number) as number,
      });
      expect((await mustGet(store, first.id)).state).toBe('canceled');
      await store.cancelTask(second.id);
      expect(await store.retryTask(first.id)).toEqual({ before: 'canceled', after: 'waiting' });
    });

    test('from SQL', async () => {
      const { database, namespace, store } = opened;
      const dispatch = async (args: string): Promise<string> => {
        const { rows } = await database.query<{ id: string }>(
          `SELECT "${namespace}".dispatch('a', ${args}) AS id`,
        );
        return rows[0]?.id ?? '';
      };
      const first = await dispatch(`unique_key => 'sql'`);
      expect(await dispatch(`unique_key => 'sql', unique_mode => 'keep'`)).toBe(first);
      const second = await dispatch(`unique_key => 'sql', unique_mode => 'replace'`);
      expect(second).not.toBe(first);
      expect((await mustGet(store, first)).state).toBe('canceled');
      await claimOne(store, await register(store), { task: second, entry: 1 });
      expect(await dispatch(`unique_key => 'sql', unique_mode => 'replace'`)).toBe(second);
      for (const [args, message] of [
        [`unique_key => ''`, 'must not be empty'],
        [`unique_key => repeat('x', 1025)`, '1025 bytes'],
        [`unique_key => 'x', unique_mode => 'drop'`, 'unique_mode must be'],
        [`unique_mode => NULL`, 'unique_mode must be'],
      ] as const) {
        await expect(dispatch(args)).rejects.toThrow(message);
      }
      expect(await dispatch(`unique_key => repeat('x', 1024)`)).not.toBe('');
    });

    test('whatever happens in whatever order, a key has one unfinished task, and that one is answered', async () => {
      const { store } = opened;
      const worker = await register(store);
      const step = fc.record({
        kind: fc.constantFrom('keep', 'replace', 'claim', 'complete', 'cancel', 'retry'),
        key: fc.nat({ max: 1 }),
        older: fc.nat({ max: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const keys = [v7(), v7()];
          const tasks: { id: string; key: number; state: string }[] = [];
          const unfinished = (key: number): (typeof tasks)[number] | undefined =>
            tasks.find(
              (task) => task.key === key && ['waiting', 'running', 'canceling'].includes(task.state),
            );
          for (const { kind, key, older } of steps) {
            const task = tasks.filter((one) => one.key === key).at(-1 - older);
            if (kind === 'keep' || kind === 'replace') {
              const given = keyed(keys[key] ?? '', kind);
              const there = unfinished(key);
              const replaced = there?.state === 'waiting' && kind === 'replace';
              const instead = await insert(given);
              const expected =
                there === undefined || replaced ? [] : [{ given: given.id, task: { id: there.id } }];
              expect(instead).toMatchObject(expected);
              if (there !== undefined && replaced) there.state = 'canceled';
              if (expected.length === 0) tasks.push({ id: given.id, key, state: 'waiting' });
            } else if (task !== undefined) {
              const { entry } = await mustGet(store, task.id);
              if (kind === 'claim') {
                const claims = [{ task: task.id, entry, fence: '1' }];
                await store.claimTasks({ worker, epoch, claims });
                if (task.state === 'waiting') task.state = 'running';
              } else if (kind === 'complete') {
                await store.finishTasks(worker, [{ task: task.id, entry, state: 'completed', result: 1 }]);
                if (task.state === 'running') task.state = 'completed';
                if (task.state === 'canceling') task.state = 'canceled';
              } else if (kind === 'cancel') {
                task.state = (await store.cancelTask(task.id))?.after ?? '';
              } else {
                const free = unfinished(key) === undefined;
                const after = task.state === 'canceled' && free ? 'waiting' : task.state;
                expect(await store.retryTask(task.id)).toEqual({ before: task.state, after });
                task.state = after;
              }
            }
            for (const one of tasks) expect((await mustGet(store, one.id)).state).toBe(one.state);
          }
        }),
        { numRuns: opened.database.kind === 'postgres' ? 30 : 15, interruptAfterTimeLimit: 20_000 },
      );
    }, 60_000);
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import {
  claimOne,
  insertOne,
  mustGet,
  openEpoch,
  register,
  runningTask,
  somePolicies,
  settleLost,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };
const lostError = { code: 'WorkerLost', message: 'Worker has gone missing.' };

/** The history of a task: each call that ends an attempt adds to it. */
export function attemptsConformance(open: () => Promise<OpenStore>): void {
  describe('the history of attempts', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('an attempt is recorded with its times and its worker when it ends, and not before', async () => {
      const { store } = opened;
      const { id, worker, row } = await runningTask(store);
      expect((await mustGet(store, id)).attempts).toEqual([]);
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: 1 }]);
      const { attempts, finishedAt } = await mustGet(store, id);
      expect(attempts).toMatchObject([
        { attempt: 1, startedAt: row.startedAt, outcome: 'completed', error: null },
      ]);
      expect(attempts[0]?.worker).toEqual({ name: 'w1', incarnation: worker });
      expect(Date.parse(attempts[0]?.endedAt ?? '') - Date.parse(finishedAt ?? '')).toBeLessThan(1_000);
    });

    test('a crash counts whatever becomes of the task, and for no other in the same call', async () => {
      const { store } = opened;
      const worker = await register(store);
      const policies = { ...somePolicies, rollbackTimeoutMs: 60_000 };
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        const { id } = await insertOne(store, { policies });
        await claimOne(store, worker, { task: id, entry: 1 });
        ids.push(id);
      }
      await store.cancelTask(ids[2] ?? '');
      const [retried, failed, canceled, rolledBack, other] = ids.map((task) => ({ task, entry: 1, error }));
      const outcomes = await store.finishTasks(worker, [
        { ...retried!, state: 'retry', delayMs: 0, crashed: true },
        { ...failed!, state: 'failed', crashed: true },
        { ...canceled!, state: 'failed', crashed: true },
        { ...rolledBack!, state: 'failed', crashed: true, rollBack: true },
        { ...other!, state: 'failed' },
      ]);
      const states = ['waiting', 'failed', 'canceled', 'rolling_back', 'failed'];
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(states);
      const rows = await Promise.all(ids.map((id) => mustGet(store, id)));
      expect(rows.map(({ crashes }) => crashes)).toEqual([1, 1, 1, 1, 0]);
      // Refused, nothing is counted.
      await store.finishTasks(worker, [{ ...failed!, state: 'failed', crashed: true }]);
      expect((await mustGet(store, ids[1] ?? '')).crashes).toBe(1);
    });

    test('retries, give-backs, re-admissions, losses and a cancel are told apart', async () => {
      const { store } = opened;
      const { id } = await insertOne(store, { policies: somePolicies });
      const claim = async (entry: number): Promise<string> => {
        const worker = await register(store);
        await claimOne(store, worker, { task: id, entry });
        return worker;
      };
      await store.finishTasks(await claim(1), [{ task: id, entry: 1, state: 'retry', error, delayMs: 0 }]);
      await store.admissionPass((admission) => admission.makeDue(10));
      await store.giveBackTasks(await claim(2), [{ task: id, entry: 2 }]);
      const more = { exclusive: ['more'], shared: [] };
      await store.readmitWithResources(await claim(3), { task: id, entry: 3, ...more });
      const lost = await claim(4);
      await store.reapWorker(lost);
      await settleLost(store, lost, { task: id, entry: 4 });
      const last = await claim(5);
      await store.cancelTask(id);
      await store.finishTasks(last, [{ task: id, entry: 5, state: 'failed', error }]);
      const { attempts } = await mustGet(store, id);
      expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
        [1, 'retried'],
        [2, 'given-back'],
        [2, 'given-back'],
        [2, 'lost'],
        [3, 'canceled'],
      ]);
      expect(attempts.map((one) => one.error)).toEqual([error, null, null, lostError, error]);
    });

    test('what waited, and was given back or canceled, had no attempt', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      await store.giveBackTasks(await register(store), [{ task: id, entry: 1 }]);
      await store.cancelTask(id);
      expect(await mustGet(store, id)).toMatchObject({ state: 'canceled', entry: 2, attempts: [] });
    });

    test('the last 20 are kept, with whatever their errors say', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      const worker = await register(store);
      for (let entry = 1; entry <= 23; entry += 1) {
        await claimOne(store, worker, { task: id, entry });
        const odd = { code: 'Odd', message: `\0 \ud800 "${entry}" {},\\` };
        await store.finishTasks(worker, [{ task: id, entry, state: 'retry', error: odd, delayMs: 0 }]);
        await store.admissionPass((admission) => admission.makeDue(10));
      }
      const { attempts } = await mustGet(store, id);
      expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, n) => n + 4));
      expect(attempts.at(-1)?.error?.message).toBe('\0 \ud800 "23" {},\\');
    });

    test('lists do not load it', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: 1 }]);
      expect(await store.listTasks({ after: null, limit: 1 })).toMatchObject([{ id, attempts: [] }]);
    });
  });
}

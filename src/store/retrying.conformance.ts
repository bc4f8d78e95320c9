import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { RetryPage } from './retry.js';
import { v7 } from 'uuid';
import { insertOne, mustGet, openEpoch, runningTask, somePolicies } from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };

/** Retrying by hand, in the store: the row decides. */
export function retryingConformance(open: () => Promise<OpenStore>): void {
  describe('retrying', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    async function failedTask(name: string): Promise<{ id: string; worker: string }> {
      const { id, worker } = await runningTask(opened.store, { name, policies: somePolicies });
      await opened.store.finishTasks(worker, [{ task: id, entry: 1, state: 'failed', error }]);
      return { id, worker };
    }

    async function retryAll(page: Omit<RetryPage, 'from'>): Promise<{ retried: number; pages: number }> {
      let [from, retried, pages]: [RetryPage['from'], number, number] = [null, 0, 0];
      do {
        const outcome = await opened.store.retryPage({ ...page, from });
        retried += outcome.retried;
        pages += 1;
        from = outcome.next;
      } while (from !== null);
      return { retried, pages };
    }

    test('a failed task waits again, at a new place, with everything counted anew', async () => {
      const { store } = opened;
      const { id, worker } = await failedTask('one');
      const before = await mustGet(store, id);
      const newest = await insertOne(store);
      expect(await store.retryTask(id)).toEqual({ before: 'failed', after: 'waiting' });
      const row = await mustGet(store, id);
      expect(row).toMatchObject({
        ...{ state: 'waiting', entry: 2, attempt: 0, crashes: 0, error: null, finishedAt: null },
        ...{ worker: null, fence: null, startedAt: null, policies: somePolicies },
      });
      expect(BigInt(row.place)).toBeGreaterThan(BigInt((await mustGet(store, newest.id)).place));
      // The reply to the finish was lost, and it comes again.
      const late = { task: id, entry: 1, state: 'completed' as const, result: 1 };
      expect(await store.finishTasks(worker, [late])).toEqual([{ task: id, entry: 1, outcome: 'refused' }]);
      expect(await mustGet(store, id)).toEqual({ ...row, ...{ createdAt: before.createdAt } });
    });

    test('a canceled one too, and the mark of its old hold stays', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      await store.cancelTask(id);
      expect(await store.retryTask(id)).toEqual({ before: 'canceled', after: 'waiting' });
      await store.admissionPass(async (admission) => {
        expect(await admission.markedTakeOuts(10)).toEqual([{ task: id, entry: 1 }]);
      });
      // Canceled again before any pass: one mark stands for both entries.
      await store.cancelTask(id);
      await store.admissionPass(async (admission) => {
        expect(await admission.markedTakeOuts(10)).toEqual([{ task: id, entry: 2 }]);
      });
    });

    test('one that was canceled before its time waits for that time', async () => {
      const { store } = opened;
      const { id } = await insertOne(store, { runAt: '2999-01-01T00:00:00Z' });
      await store.cancelTask(id);
      await store.retryTask(id);
      await store.admissionPass((admission) => admission.makeDue(100));
      expect(await mustGet(store, id)).toMatchObject({ state: 'waiting', runAt: '2999-01-01T00:00:00.000Z' });
      expect((await store.admissionNeeded('1')).due).toBe(false);
    });

    test('in any other state nothing changes, and an unknown one is told', async () => {
      const { store } = opened;
      const waiting = await insertOne(store);
      const { id, worker } = await runningTask(store);
      for (const [task, state] of [
        [waiting.id, 'waiting'],
        [id, 'running'],
      ] as const) {
        const row = await mustGet(store, task);
        expect(await store.retryTask(task)).toEqual({ before: state, after: state });
        expect(await mustGet(store, task)).toEqual(row);
      }
      await store.cancelTask(id);
      expect(await store.retryTask(id)).toEqual({ before: 'canceling', after: 'canceling' });
      const other = await runningTask(store);
      await store.finishTasks(other.worker, [{ task: other.id, entry: 1, state: 'completed', result: 1 }]);
      expect(await store.retryTask(other.id)).toEqual({ before: 'completed', after: 'completed' });
      expect(await store.retryTask(v7())).toBeNull();
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'failed', error }]);
    });

    test('pages go through a state in order of id, once, and leave what has failed since', async () => {
      const { store } = opened;
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) ids.push((await failedTask('many')).id);
      const other = await failedTask('other');
      const first = await store.retryPage({ state: 'failed', name: 'many', from: null, limit: 2 });
      expect(first).toMatchObject({ retried: 2, refused: 0, next: { after: ids[1] } });
      const since = await failedTask('many');
      const rest = await store.retryPage({ state: 'failed', name: 'many', from: first.next, limit: 9 });
      expect(rest).toMatchObject({ retried: 3, refused: 0, next: null });
      const rows = await Promise.all(ids.map((id) => mustGet(store, id)));
      const places = rows.map(({ place }) => BigInt(place));
      expect(places).toEqual(places.toSorted((a, b) => Number(a - b)));
      for (const { id } of [since, other]) expect((await mustGet(store, id)).state).toBe('failed');
      expect(await retryAll({ state: 'failed', name: null, limit: 1 })).toEqual({ retried: 2, pages: 3 });
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Policies } from './store.js';
import {
  claimOne,
  mustGet,
  openEpoch,
  register,
  rollingBack,
  runningTask,
  withRollback,
  settleLost,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };
const lostError = { code: 'WorkerLost', message: 'Worker has gone missing.' };

/** Roll-backs that come from a lost worker, lose theirs, or are claimed by nobody. */
export function unclaimedRollbacksConformance(open: () => Promise<OpenStore>): void {
  describe('roll-backs without a worker', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    async function lose(policies: Policies): Promise<string> {
      const { store } = opened;
      const { id, worker } = await runningTask(store, { policies });
      await store.reapWorker(worker);
      expect(await settleLost(store, worker, { task: id, entry: 1 })).toEqual({
        outcome: 'given-back',
        nextEntry: 2,
      });
      return id;
    }

    /** As time would. */
    async function letPass(id: string): Promise<void> {
      const text = `UPDATE "${opened.namespace}".tasks SET rollback_until = now() - interval '1 ms' WHERE id = $1`;
      await opened.database.query(text, [id]);
    }

    function endUnclaimed(): Promise<number | 'busy-elsewhere'> {
      return opened.store.admissionPass((admission) => admission.endUnclaimedRollbacks(10));
    }

    test('the attempt of a lost worker is rolled back before its policy comes to pass', async () => {
      const { store } = opened;
      const failed = await lose({ ...withRollback, maxAttempts: 1 });
      expect(await mustGet(store, failed)).toMatchObject({
        ...{ state: 'rolling_back', entry: 2, crashes: 1, worker: null, error: lostError },
        rollback: { outcome: 'failed' },
      });
      const counted = await lose({ ...withRollback, maxAttempts: 2 });
      expect((await mustGet(store, counted)).rollback).toMatchObject({ outcome: 'retry', delayMs: null });
      const uncounted = await lose({ ...withRollback, onWorkerLost: 'retry' });
      expect((await mustGet(store, uncounted)).rollback).toMatchObject({ outcome: 'given-back' });
      for (const [id, attempt] of [
        [counted, 1],
        [uncounted, 0],
      ] as const) {
        const worker = await register(store);
        const { place } = await claimOne(store, worker, { task: id, entry: 2 });
        await store.finishTasks(worker, [{ task: id, entry: 2, state: 'rolled-back' }]);
        expect(await mustGet(store, id)).toMatchObject({
          state: 'waiting',
          entry: 3,
          attempt,
          place,
          runAt: null,
        });
      }
    });

    test('a worker lost in the middle of it gives it back, with the crash counted and the limit as it was', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const until = (await mustGet(store, id)).rollback?.until;
      const worker = await register(store);
      await claimOne(store, worker, { task: id, entry: 2 });
      expect(await store.removeWorker(worker)).toBe('running');
      await store.reapWorker(worker);
      const settled = { outcome: 'given-back', nextEntry: 3 };
      expect(await settleLost(store, worker, { task: id, entry: 2 })).toEqual(settled);
      expect(await settleLost(store, worker, { task: id, entry: 2 })).toEqual({ outcome: 'refused' });
      const row = await mustGet(store, id);
      expect(row).toMatchObject({ state: 'rolling_back', entry: 3, crashes: 1, worker: null, error });
      expect(row.rollback).toMatchObject({ outcome: 'failed', until, startedAt: null });
      expect(row.attempts.at(-1)).toMatchObject({
        outcome: 'rollback-lost',
        worker: { incarnation: worker },
      });
    });

    test('one that nobody has claimed in time ends in its outcome, and its hold is to be taken out', async () => {
      const { store } = opened;
      const failed = await rollingBack(store, { state: 'failed', error });
      const retry = await rollingBack(store, { state: 'retry', error, delayMs: 0 });
      expect((await store.admissionNeeded(epoch)).rollbacksOver).toBe(false);
      expect(await endUnclaimed()).toBe(0);
      for (const { id } of [failed, retry]) await letPass(id);
      expect((await store.admissionNeeded(epoch)).rollbacksOver).toBe(true);
      expect(await endUnclaimed()).toBe(2);
      expect(await endUnclaimed()).toBe(0);
      expect((await store.admissionNeeded(epoch)).rollbacksOver).toBe(false);
      const told = { ...error, reason: 'rollback-not-run', rollback: { code: 'RollbackNotRun' } };
      expect(await mustGet(store, failed.id)).toMatchObject({ state: 'failed', entry: 2, error: told });
      expect(await mustGet(store, retry.id)).toMatchObject({ state: 'waiting', entry: 3, error: told });
      expect((await mustGet(store, failed.id)).attempts.at(-1)).toMatchObject({
        ...{ outcome: 'rollback-not-run', worker: null, startedAt: null },
      });
      await store.admissionPass(async (admission) => {
        const marked = await admission.markedTakeOuts(10);
        expect(marked).toHaveLength(2);
        expect(marked).toEqual(
          expect.arrayContaining([failed, retry].map(({ id }) => ({ task: id, entry: 2 }))),
        );
        await admission.clearTakeOuts(marked);
      });
    });

    test('one that is claimed is left to its worker, however late it is', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const worker = await register(store);
      await claimOne(store, worker, { task: id, entry: 2 });
      await letPass(id);
      expect((await store.admissionNeeded(epoch)).rollbacksOver).toBe(false);
      expect(await endUnclaimed()).toBe(0);
      await store.finishTasks(worker, [{ task: id, entry: 2, state: 'rolled-back' }]);
    });

    test('a new epoch is given unclaimed ones for nobody, and claimed ones for their workers', async () => {
      const { store } = opened;
      const unclaimed = await rollingBack(store, { state: 'failed', error });
      const claimed = await rollingBack(store, { state: 'failed', error });
      const worker = await register(store);
      const { fence } = await claimOne(store, worker, { task: claimed.id, entry: 2 });
      const entered = await store.rebuild((rebuild) => rebuild.runningLike({ after: null, limit: 1_000 }));
      const found = (id: string): unknown => entered.find((task) => task.id === id);
      expect(found(unclaimed.id)).toMatchObject({ entry: 2, owner: null, fence: null });
      expect(found(claimed.id)).toMatchObject({ entry: 2, owner: { incarnation: worker }, fence });
    });

    test('a pass of admission leaves its hold where it is', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const marked = await store.admissionPass((admission) =>
        admission.markAdmitted(epoch, [
          { task: id, entry: 1 },
          { task: id, entry: 2 },
        ]),
      );
      expect(marked).toEqual([
        { task: id, entry: 1, runs: false },
        { task: id, entry: 2, runs: true },
      ]);
    });
  });
}

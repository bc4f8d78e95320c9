import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Finish } from './finish.js';
import {
  claimOf,
  claimOne,
  mustGet,
  openEpoch,
  register,
  rollingBack,
  runningTask,
  withRollback,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };
const broken = { code: 'Broken', message: 'broken' };

/** Rolling back, in the store: what becomes of the task is decided before, and comes to pass after. */
export function rollingBackConformance(open: () => Promise<OpenStore>): void {
  describe('rolling back', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    /** Claims the roll-back with a worker of its own, and ends it. */
    async function endRollback(
      id: string,
      entry: number,
      end: { state: 'rolled-back' } | { state: 'rollback-failed'; error: typeof error },
    ): Promise<{ worker: string; outcome: unknown }> {
      const { store } = opened;
      const worker = await register(store);
      await claimOne(store, worker, { task: id, entry });
      const [finished] = await store.finishTasks(worker, [{ task: id, entry, ...end }]);
      return { worker, outcome: finished?.outcome };
    }

    test('an attempt that had begun and failed is given back to be rolled back, with its outcome stored', async () => {
      const { store } = opened;
      const { id, worker, row } = await runningTask(store, { policies: withRollback });
      const finish: Finish = { task: id, entry: 1, state: 'failed', error, rollBack: true };
      expect(await store.finishTasks(worker, [finish])).toEqual([
        { task: id, entry: 1, outcome: 'rolling_back' },
      ]);
      const now = await mustGet(store, id);
      expect(now).toMatchObject({ state: 'rolling_back', entry: 2, worker: null, fence: null, error });
      expect(now).toMatchObject({ place: row.place, attempt: 1, startedAt: row.startedAt, finishedAt: null });
      expect(now.rollback).toMatchObject({ outcome: 'failed', delayMs: null, startedAt: null });
      const limitMs = Date.parse(now.rollback?.until ?? '') - Date.parse(now.attempts[0]?.endedAt ?? '');
      expect(Math.abs(limitMs - (withRollback.rollbackTimeoutMs ?? 0))).toBeLessThan(500);
      expect(now.attempts).toMatchObject([{ attempt: 1, outcome: 'failed', error }]);
      // Its reply was lost, and it is sent again.
      expect(await store.finishTasks(worker, [finish])).toMatchObject([{ outcome: 'refused' }]);
      expect(await store.runningOf(worker)).toEqual([]);
      expect(await store.rollbacksAmong([id])).toEqual([{ task: id, entry: 2 }]);
    });

    test('what completed, had not begun, or has no roll-back, ends at once', async () => {
      const { store } = opened;
      const completed = await runningTask(store, { policies: withRollback });
      const notBegun = await runningTask(store, { policies: withRollback });
      const without = await runningTask(store);
      const end = async (id: string, worker: string, finish: object): Promise<unknown> =>
        store.finishTasks(worker, [{ task: id, entry: 1, ...finish } as Finish]);
      const failed = { state: 'failed', error };
      expect(
        await end(completed.id, completed.worker, { state: 'completed', result: 1, rollBack: true }),
      ).toMatchObject([{ outcome: 'completed' }]);
      expect(await end(notBegun.id, notBegun.worker, failed)).toMatchObject([{ outcome: 'failed' }]);
      expect(await end(without.id, without.worker, { ...failed, rollBack: true })).toMatchObject([
        { outcome: 'failed' },
      ]);
      expect(await store.rollbacksAmong([completed.id, notBegun.id, without.id])).toEqual([]);
    });

    test('a claim of it counts no attempt, and keeps what the attempt left', async () => {
      const { store } = opened;
      const { id, row } = await rollingBack(store, { state: 'failed', error });
      const worker = await register(store);
      const claimed = await claimOne(store, worker, { task: id, entry: 2 });
      expect(claimed).toMatchObject({ state: 'rolling_back', entry: 2, attempt: 1, error, progress: [1] });
      expect(claimed.worker?.incarnation).toBe(worker);
      expect((claimed.fence ?? '') > (row.fence ?? '')).toBe(true);
      expect(claimed.startedAt).toBe(row.startedAt);
      expect(claimed.rollback?.startedAt).not.toBeNull();
      expect(await store.runningOf(worker)).toEqual([{ task: id, entry: 2, canceling: false }]);
      expect(await store.claimTasks({ worker, epoch, claims: [claimOf(id, 2)] })).toMatchObject({
        refused: [{ runsHere: true }],
      });
      await store.writeProgress(worker, [{ task: id, entry: 2, progress: ['undone'] }]);
      expect((await mustGet(store, id)).progress).toEqual(['undone']);
    });

    test('its must-checks are those of any claim', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const [worker, dead] = [await register(store), await register(store)];
      await store.reapWorker(dead);
      const claims = [claimOf(id, 2)];
      const other = String(BigInt(epoch) + 1n);
      expect(await store.claimTasks({ worker, epoch: other, claims })).toEqual({ status: 'epoch' });
      expect(await store.claimTasks({ worker: dead, epoch, claims })).toEqual({ status: 'reaped' });
      expect(await store.claimTasks({ worker, epoch, claims: [claimOf(id, 1)] })).toMatchObject({
        refused: [{ runsHere: false }],
      });
      await claimOne(store, worker, { task: id, entry: 2 });
      const second = await register(store);
      expect(await store.claimTasks({ worker: second, epoch, claims })).toMatchObject({
        refused: [{ runsHere: false }],
      });
    });

    test('after it the task fails, with the error of its attempt', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const { worker, outcome } = await endRollback(id, 2, { state: 'rolled-back' });
      expect(outcome).toBe('failed');
      const row = await mustGet(store, id);
      expect(row).toMatchObject({ state: 'failed', entry: 2, attempt: 1, error, rollback: null });
      expect(row.worker?.incarnation).toBe(worker);
      expect(row.finishedAt).not.toBeNull();
      expect(row.attempts.map((one) => one.outcome)).toEqual(['failed', 'rolled-back']);
      expect(row.attempts[1]).toMatchObject({ attempt: 1, worker: { incarnation: worker }, error: null });
    });

    test('after it a retry waits at a new place for its delay, counted from here', async () => {
      const { store } = opened;
      const { id, row } = await rollingBack(store, { state: 'retry', error, delayMs: 60_000 });
      expect((await mustGet(store, id)).rollback).toMatchObject({ outcome: 'retry', delayMs: 60_000 });
      const { outcome } = await endRollback(id, 2, { state: 'rolled-back' });
      expect(outcome).toBe('waiting');
      const now = await mustGet(store, id);
      expect(now).toMatchObject({
        state: 'waiting',
        entry: 3,
        attempt: 1,
        error,
        worker: null,
        startedAt: null,
      });
      expect(BigInt(now.place)).toBeGreaterThan(BigInt(row.place));
      expect(Date.parse(now.runAt ?? '') - Date.parse(now.attempts[1]?.endedAt ?? '')).toBeGreaterThan(
        59_000,
      );
      expect(
        await store.claimTasks({ worker: await register(store), epoch, claims: [claimOf(id, 3)] }),
      ).toMatchObject({ claimed: [] });
    });

    test('after it what was given back waits at its place, its attempt not counted', async () => {
      const { store } = opened;
      const { id, worker, row } = await runningTask(store, { policies: withRollback });
      expect(await store.giveBackTasks(worker, [{ task: id, entry: 1, rollBack: true }])).toEqual([
        { task: id, entry: 1, nextEntry: 2, rollsBack: true },
      ]);
      await endRollback(id, 2, { state: 'rolled-back' });
      const now = await mustGet(store, id);
      expect(now).toMatchObject({ state: 'waiting', entry: 3, attempt: 0, place: row.place, runAt: null });
      await claimOne(store, await register(store), { task: id, entry: 3 });
    });

    test('a canceled attempt is rolled back, whatever it ended with, and then canceled', async () => {
      const { store } = opened;
      for (const finish of [
        { state: 'completed' as const, result: 1 },
        { state: 'failed' as const, error },
        { state: 'retry' as const, error, delayMs: 0 },
      ]) {
        const { id, worker } = await runningTask(store, { policies: withRollback });
        await store.cancelTask(id);
        await store.finishTasks(worker, [{ task: id, entry: 1, ...finish, rollBack: true }]);
        expect(await mustGet(store, id)).toMatchObject({ state: 'rolling_back', error: null });
        expect((await endRollback(id, 2, { state: 'rolled-back' })).outcome).toBe('canceled');
        expect(await mustGet(store, id)).toMatchObject({ state: 'canceled', result: null, error: null });
      }
      const back = await runningTask(store, { policies: withRollback });
      await store.cancelTask(back.id);
      await store.giveBackTasks(back.worker, [{ task: back.id, entry: 1, rollBack: true }]);
      expect((await mustGet(store, back.id)).rollback?.outcome).toBe('canceled');
    });

    test('a cancel turns a retry that is to come into a cancel, and leaves a failure as it is', async () => {
      const { store } = opened;
      const same = { before: 'rolling_back', after: 'rolling_back' };
      const retry = await rollingBack(store, { state: 'retry', error, delayMs: 1_000 });
      expect(await store.cancelTask(retry.id)).toEqual(same);
      expect(await mustGet(store, retry.id)).toMatchObject({
        error: null,
        rollback: { outcome: 'canceled' },
      });
      expect((await endRollback(retry.id, 2, { state: 'rolled-back' })).outcome).toBe('canceled');
      const failed = await rollingBack(store, { state: 'failed', error });
      expect(await store.cancelTask(failed.id)).toEqual(same);
      expect((await endRollback(failed.id, 2, { state: 'rolled-back' })).outcome).toBe('failed');
    });

    test('one that failed is told beside the error of the attempt, and the outcome comes all the same', async () => {
      const { store } = opened;
      const told = { reason: 'rollback-failed', rollback: broken };
      const failed = await rollingBack(store, { state: 'failed', error });
      const retry = await rollingBack(store, { state: 'retry', error, delayMs: 0 });
      const canceled = await rollingBack(store, { state: 'retry', error, delayMs: 0 });
      await store.cancelTask(canceled.id);
      for (const { id } of [failed, retry, canceled]) {
        await endRollback(id, 2, { state: 'rollback-failed', error: broken });
      }
      expect(await mustGet(store, failed.id)).toMatchObject({
        state: 'failed',
        error: { ...error, ...told },
      });
      expect(await mustGet(store, retry.id)).toMatchObject({
        state: 'waiting',
        error: { ...error, ...told },
      });
      const row = await mustGet(store, canceled.id);
      expect(row).toMatchObject({ state: 'canceled', error: { code: 'RollbackFailed', ...told } });
      expect(row.attempts[1]).toMatchObject({ outcome: 'rollback-failed', error: broken });
      const [listed] = (await store.listTasks({ after: null, limit: 1 })).filter(
        ({ id }) => id === canceled.id,
      );
      expect(listed?.error).toMatchObject(told);
    });

    test('the next attempt ends without what an earlier roll-back ended with', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'retry', error, delayMs: 0 });
      await endRollback(id, 2, { state: 'rollback-failed', error: broken });
      await store.admissionPass((admission) => admission.makeDue(10));
      const worker = await register(store);
      await claimOne(store, worker, { task: id, entry: 3 });
      await store.finishTasks(worker, [
        { task: id, entry: 3, state: 'completed', result: 1, rollBack: true },
      ]);
      expect(await mustGet(store, id)).toMatchObject({ state: 'completed', error: null });
    });

    test('errors may say anything', async () => {
      const { store } = opened;
      const odd = { code: 'Odd', message: '\\0 \\ud800 \\ "' };
      const { id } = await rollingBack(store, { state: 'failed', error: odd });
      await endRollback(id, 2, { state: 'rollback-failed', error: odd });
      expect((await mustGet(store, id)).error).toEqual({ ...odd, reason: 'rollback-failed', rollback: odd });
    });

    test('it is given back by its worker, and by one that has not claimed it for sure', async () => {
      const { store } = opened;
      const { id } = await rollingBack(store, { state: 'failed', error });
      const until = (await mustGet(store, id)).rollback?.until;
      const [worker, other] = [await register(store), await register(store)];
      expect(await store.giveBackTasks(worker, [{ task: id, entry: 2 }])).toMatchObject([
        { nextEntry: 3, rollsBack: true },
      ]);
      await claimOne(store, worker, { task: id, entry: 3 });
      expect(await store.giveBackTasks(other, [{ task: id, entry: 3 }])).toMatchObject([
        { nextEntry: 'refused' },
      ]);
      await store.giveBackTasks(worker, [{ task: id, entry: 3 }]);
      const row = await mustGet(store, id);
      expect(row).toMatchObject({ state: 'rolling_back', entry: 4, worker: null, fence: null, crashes: 0 });
      expect(row.rollback).toMatchObject({ until, startedAt: null });
      expect(row.attempts.map((one) => one.outcome)).toEqual(['failed', 'rollback-given-back']);
      const late: Finish = { task: id, entry: 3, state: 'rolled-back' };
      expect(await store.finishTasks(worker, [late])).toMatchObject([{ outcome: 'refused' }]);
    });

    test('an attempt cannot be ended as a roll-back, nor a roll-back as an attempt', async () => {
      const { store } = opened;
      const running = await runningTask(store, { policies: withRollback });
      const end: Finish = { task: running.id, entry: 1, state: 'rolled-back' };
      expect(await store.finishTasks(running.worker, [end])).toMatchObject([{ outcome: 'refused' }]);
      const { id } = await rollingBack(store, { state: 'retry', error, delayMs: 0 });
      const worker = await register(store);
      await claimOne(store, worker, { task: id, entry: 2 });
      for (const finish of [
        { state: 'completed' as const, result: 1, rollBack: true },
        { state: 'failed' as const, error, rollBack: true },
        { state: 'retry' as const, error, delayMs: 0 },
      ]) {
        expect(await store.finishTasks(worker, [{ task: id, entry: 2, ...finish }])).toMatchObject([
          { outcome: 'refused' },
        ]);
      }
      const more = { task: id, entry: 2, exclusive: ['more'], shared: [] };
      expect(await store.readmitWithResources(worker, more)).toBe('refused');
    });
  });
}

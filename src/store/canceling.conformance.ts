import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import { v7 } from 'uuid';
import {
  claimOf,
  insertOne,
  mustGet,
  openEpoch,
  register,
  runningTask,
  somePolicies,
  settleLost,
} from '../../test/store/rows.js';

const error = { code: 'Boom', message: 'boom' };

/** Cancelling, in the store: who asked first has decided it. */
export function cancelingConformance(open: () => Promise<OpenStore>): void {
  describe('cancelling', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('a waiting task is canceled at once, and its hold is to be taken out', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      expect(await store.cancelTask(id)).toEqual({ before: 'waiting', after: 'canceled' });
      const row = await mustGet(store, id);
      expect(row).toMatchObject({ state: 'canceled', worker: null, result: null, error: null });
      expect(row.finishedAt).not.toBeNull();
      expect((await store.admissionNeeded(epoch)).takeOuts).toBe(true);
      await store.admissionPass(async (admission) => {
        expect(await admission.markedTakeOuts(10)).toEqual([{ task: id, entry: 1 }]);
        await admission.clearTakeOuts([{ task: id, entry: 1 }]);
        expect(await admission.markedTakeOuts(10)).toEqual([]);
      });
      expect((await store.admissionNeeded(epoch)).takeOuts).toBe(false);
      expect(
        await store.claimTasks({ worker: await register(store), epoch, claims: [claimOf(id)] }),
      ).toMatchObject({ claimed: [], refused: [{ task: id, runsHere: false }] });
    });

    test('a scheduled task is canceled, and is never due', async () => {
      const { store } = opened;
      const { id } = await insertOne(store, { runAt: '2000-01-01T00:00:00Z' });
      await store.cancelTask(id);
      await store.admissionPass(async (admission) => {
        await admission.makeDue(100);
        await admission.clearTakeOuts([{ task: id, entry: 1 }]);
      });
      expect((await mustGet(store, id)).state).toBe('canceled');
    });

    test('a running task is canceling, and canceled whatever its attempt ends with', async () => {
      const { store } = opened;
      for (const finish of [
        { state: 'completed' as const, result: 1 },
        { state: 'failed' as const, error },
        { state: 'retry' as const, error, delayMs: 0 },
      ]) {
        const { id, worker } = await runningTask(store);
        expect(await store.cancelTask(id)).toEqual({ before: 'running', after: 'canceling' });
        expect(await store.runningOf(worker)).toEqual([{ task: id, entry: 1, canceling: true }]);
        expect(await store.finishTasks(worker, [{ task: id, entry: 1, ...finish }])).toEqual([
          { task: id, entry: 1, outcome: 'canceled' },
        ]);
        expect(await mustGet(store, id)).toMatchObject({ state: 'canceled', result: null, error: null });
        expect(await store.runningOf(worker)).toEqual([]);
      }
    });

    test('one that is given back, or whose worker is lost, is canceled and does not run again', async () => {
      const { store } = opened;
      const back = await runningTask(store);
      await store.cancelTask(back.id);
      expect(await store.giveBackTasks(back.worker, [{ task: back.id, entry: 1 }])).toEqual([
        { task: back.id, entry: 1, nextEntry: 'canceled', rollsBack: false },
      ]);
      const lost = await runningTask(store, { policies: somePolicies });
      await store.cancelTask(lost.id);
      await store.reapWorker(lost.worker);
      expect(await settleLost(store, lost.worker, { task: lost.id, entry: 1 })).toEqual({
        outcome: 'settled',
      });
      for (const { id } of [back, lost]) expect((await mustGet(store, id)).state).toBe('canceled');
    });

    test('one that is being canceled is not readmitted', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await store.cancelTask(id);
      const request = { task: id, entry: 1, exclusive: ['more'], shared: [] };
      expect(await store.readmitWithResources(worker, request)).toBe('refused');
    });

    test('a task that is over stays as it is, and an unknown one is told', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: 1 }]);
      expect(await store.cancelTask(id)).toEqual({ before: 'completed', after: 'completed' });
      expect(await mustGet(store, id)).toMatchObject({ state: 'completed', result: 1 });
      expect(await store.cancelTask(v7())).toBeNull();
    });

    test('again for one that is canceled or being canceled changes nothing', async () => {
      const { store } = opened;
      const waiting = await insertOne(store);
      await store.cancelTask(waiting.id);
      const before = await mustGet(store, waiting.id);
      expect(await store.cancelTask(waiting.id)).toEqual({ before: 'canceled', after: 'canceled' });
      expect(await mustGet(store, waiting.id)).toEqual(before);
      const { id } = await runningTask(store);
      await store.cancelTask(id);
      expect(await store.cancelTask(id)).toEqual({ before: 'canceling', after: 'canceling' });
    });

    test('a new epoch enters what is being canceled as running', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await store.cancelTask(id);
      const entered = await store.rebuild(async (rebuild) => {
        const tasks = await rebuild.runningLike({ after: null, limit: 1_000 });
        await rebuild.commitEpoch({ epoch: await rebuild.drawEpoch(null), identity: 'server' });
        return tasks;
      });
      expect(entered.find((task) => task.id === id)).toMatchObject({ owner: { incarnation: worker } });
      epoch = (await store.readNamespace()).epoch ?? '';
    });
  });
}

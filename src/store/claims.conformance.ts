import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import {
  claimOf,
  claimOne,
  insertOne,
  mustGet,
  openEpoch,
  register,
  runningTask,
  somePolicies,
} from '../../test/store/rows.js';

/** Claims, finishes, give-backs: what they answer and what they leave. */
export function claimsConformance(open: () => Promise<OpenStore>): void {
  describe('claims, finishes and give-backs', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('a claim answers with the running row, each of the others with why not', async () => {
      const { store } = opened;
      const worker = await register(store, { name: 'claimer' });
      const other = await register(store);
      const inserted = await Promise.all(Array.from({ length: 4 }, () => insertOne(store)));
      const [fresh, running, wrongEntry, own] = inserted.map(({ id }) => id) as [
        string,
        string,
        string,
        string,
      ];
      await claimOne(store, other, { task: running, entry: 1 });
      await claimOne(store, worker, { task: own, entry: 1 });
      const later = await insertOne(store, { runAt: '2999-01-01T00:00:00Z' });
      const claims = [
        claimOf(fresh),
        claimOf(running),
        claimOf(wrongEntry, 2),
        claimOf(own),
        claimOf(later.id),
      ];
      const outcome = await store.claimTasks({ worker, epoch, claims });
      expect(outcome).toMatchObject({
        status: 'claimed',
        claimed: [{ id: fresh, state: 'running', entry: 1, attempt: 1, fence: claims[0]?.fence }],
      });
      if (outcome.status !== 'claimed') throw new Error('unreachable');
      expect(outcome.claimed[0]?.worker).toEqual({ name: 'claimer', incarnation: worker });
      expect(outcome.claimed[0]?.payload).toEqual({ repo: 7 });
      expect(outcome.claimed[0]).toEqual(await mustGet(store, fresh));
      const byTask = (a: { task: string }, b: { task: string }): number => (a.task < b.task ? -1 : 1);
      expect(outcome.refused.sort(byTask)).toEqual(
        [
          { task: running, entry: 1, runsHere: false },
          { task: wrongEntry, entry: 2, runsHere: false },
          { task: own, entry: 1, runsHere: true },
          { task: later.id, entry: 1, runsHere: false },
        ].sort(byTask),
      );
    });

    test('claiming nothing claims nothing', async () => {
      const outcome = await opened.store.claimTasks({ worker: '1', epoch, claims: [] });
      expect(outcome).toEqual({ status: 'claimed', claimed: [], refused: [] });
    });

    test('a claim of another epoch is answered epoch, and one of a reaped or unknown worker reaped', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      const worker = await register(store);
      const claims = [claimOf(id)];
      const old = String(Number(epoch) - 1);
      expect(await store.claimTasks({ worker, epoch: old, claims })).toEqual({ status: 'epoch' });
      expect(await store.claimTasks({ worker: '999999', epoch, claims })).toEqual({ status: 'reaped' });
      await store.reapWorker(worker);
      expect(await store.claimTasks({ worker, epoch, claims })).toEqual({ status: 'reaped' });
      expect(await mustGet(store, id)).toMatchObject({ state: 'waiting', attempt: 0 });
    });

    test('a finish stores result or error, and the row tells who ran it', async () => {
      const { store } = opened;
      const done = await runningTask(store);
      const failed = await runningTask(store);
      const result = { files: 12, text: 'NUL \0 and \ud800' };
      const error = { code: 'Boom', message: 'NUL \0', reason: 'because' };
      expect(
        await store.finishTasks(done.worker, [{ task: done.id, entry: 1, state: 'completed', result }]),
      ).toEqual([{ task: done.id, entry: 1, outcome: 'completed' }]);
      await store.finishTasks(failed.worker, [{ task: failed.id, entry: 1, state: 'failed', error }]);
      const row = await mustGet(store, done.id);
      expect(row).toMatchObject({
        state: 'completed',
        result,
        error: null,
        attempt: 1,
        fence: done.row.fence,
      });
      expect(row.worker).toEqual({ name: 'w1', incarnation: done.worker });
      expect(row.finishedAt).not.toBeNull();
      expect(await mustGet(store, failed.id)).toMatchObject({ state: 'failed', result: null, error });
    });

    test('a result that is undefined is null', async () => {
      const { id, worker } = await runningTask(opened.store);
      await opened.store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: undefined }]);
      expect(await mustGet(opened.store, id)).toMatchObject({ state: 'completed', result: null });
    });

    test('a retry waits with the next entry at a new place, due after its delay', async () => {
      const { store } = opened;
      const [soon, late] = [await runningTask(store), await runningTask(store)];
      const error = { code: 'Boom', message: 'boom' };
      const retry = { entry: 1, state: 'retry' as const, error };
      await store.finishTasks(soon.worker, [{ ...retry, task: soon.id, delayMs: 0 }]);
      await store.finishTasks(late.worker, [{ ...retry, task: late.id, delayMs: 3_600_000 }]);
      const row = await mustGet(store, soon.id);
      expect(row).toMatchObject({ state: 'waiting', entry: 2, attempt: 1, worker: null, fence: null, error });
      expect(row.startedAt).toBeNull();
      expect(Number(row.place)).toBeGreaterThan(Number(soon.row.place));
      const { runAt } = await mustGet(store, late.id);
      expect(Date.parse(runAt ?? '') - Date.parse(late.row.startedAt ?? '')).toBeGreaterThanOrEqual(
        3_600_000,
      );
      expect((await claimOne(store, soon.worker, { task: soon.id, entry: 2 })).attempt).toBe(2);
      const claims = [claimOf(late.id, 2)];
      expect(await store.claimTasks({ worker: late.worker, epoch, claims })).toMatchObject({ claimed: [] });
    });

    test('a finish in a batch is refused by entry, worker, state or a reaped worker, and the others pass', async () => {
      const { store } = opened;
      const mine = await runningTask(store);
      const { worker } = mine;
      const foreign = await runningTask(store);
      const waiting = await insertOne(store);
      const stale = await insertOne(store);
      await claimOne(store, worker, { task: stale.id, entry: 1 });
      const finish = { state: 'completed' as const, result: 1 };
      const outcomes = await store.finishTasks(worker, [
        { ...finish, task: foreign.id, entry: 1 },
        { ...finish, task: mine.id, entry: 1 },
        { ...finish, task: waiting.id, entry: 1 },
        { ...finish, task: stale.id, entry: 2 },
      ]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['refused', 'completed', 'refused', 'refused']);
      const again = await store.finishTasks(worker, [{ ...finish, task: mine.id, entry: 1 }]);
      expect(again).toEqual([{ task: mine.id, entry: 1, outcome: 'refused' }]);
      await store.reapWorker(worker);
      const reaped = await store.finishTasks(worker, [{ ...finish, task: stale.id, entry: 1 }]);
      expect(reaped).toEqual([{ task: stale.id, entry: 1, outcome: 'refused' }]);
      expect((await mustGet(store, stale.id)).state).toBe('running');
    });

    test('a give-back raises the entry, keeps the place and takes the attempt back', async () => {
      const { store } = opened;
      const { id, worker, row } = await runningTask(store);
      const waiting = await insertOne(store);
      const foreign = await runningTask(store);
      const given = await store.giveBackTasks(worker, [
        { task: id, entry: 1 },
        { task: waiting.id, entry: 1 },
        { task: foreign.id, entry: 1 },
        { task: id, entry: 7 },
      ]);
      expect(given.slice(1, 3)).toEqual([
        { task: waiting.id, entry: 1, nextEntry: 2, rollsBack: false },
        { task: foreign.id, entry: 1, nextEntry: 'refused', rollsBack: false },
      ]);
      expect(given[0]).toEqual({ task: id, entry: 1, nextEntry: 2, rollsBack: false });
      expect(given[3]).toEqual({ task: id, entry: 7, nextEntry: 'refused', rollsBack: false });
      const back = await mustGet(store, id);
      expect(back).toMatchObject({ state: 'waiting', entry: 2, attempt: 0, place: row.place, worker: null });
      expect(await mustGet(store, waiting.id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0 });
      await store.reapWorker(worker);
      const refused = await store.giveBackTasks(worker, [{ task: waiting.id, entry: 2 }]);
      expect(refused).toEqual([{ task: waiting.id, entry: 2, nextEntry: 'refused', rollsBack: false }]);
    });

    test('a task is readmitted with other resources once', async () => {
      const { store } = opened;
      const { id, worker, row } = await runningTask(store);
      const resources = { exclusive: ['a', 'b'], shared: ['c'] };
      const readmitted = await store.readmitWithResources(worker, { task: id, entry: 1, ...resources });
      expect(readmitted).toEqual({ nextEntry: 2 });
      const back = { state: 'waiting', attempt: 0, place: row.place, readmitted: true, ...resources };
      expect(await mustGet(store, id)).toMatchObject(back);
      await claimOne(store, worker, { task: id, entry: 2 });
      expect(await store.readmitWithResources(worker, { task: id, entry: 2, ...resources })).toBe('refused');
      expect(await mustGet(store, id)).toMatchObject({ state: 'running', entry: 2 });
    });

    test('policies are written where there are none, and progress is replaced, by the one that runs it', async () => {
      const { store } = opened;
      const bare = await runningTask(store);
      const own = await insertOne(store, { policies: { ...somePolicies, maxAttempts: 9 } });
      await claimOne(store, bare.worker, { task: own.id, entry: 1 });
      const foreign = await runningTask(store);
      const ids = [bare.id, own.id, foreign.id];
      await store.writePolicies(
        bare.worker,
        ids.map((task) => ({ task, entry: 1, policies: somePolicies })),
      );
      await store.writeProgress(
        bare.worker,
        ids.map((task) => ({ task, entry: 1, progress: [{ done: 1 }] })),
      );
      const progress = [{ done: 1 }];
      expect(await mustGet(store, bare.id)).toMatchObject({ policies: somePolicies, progress });
      expect(await mustGet(store, own.id)).toMatchObject({ policies: { maxAttempts: 9 }, progress });
      expect(await mustGet(store, foreign.id)).toMatchObject({ policies: null, progress: [] });
      await store.giveBackTasks(bare.worker, [{ task: bare.id, entry: 1 }]);
      const again = await claimOne(store, bare.worker, { task: bare.id, entry: 2 });
      expect(again.progress).toEqual([]);
    });

    test('two entries of one task in one call are told apart', async () => {
      const { store } = opened;
      const worker = await register(store);
      const { id } = await insertOne(store);
      const both = [2, 1].map((entry) => ({ task: id, entry }));
      const claims = both.map(({ entry }) => claimOf(id, entry));
      expect(await store.claimTasks({ worker, epoch, claims })).toMatchObject({
        claimed: [{ id, entry: 1 }],
        refused: [{ task: id, entry: 2, runsHere: false }],
      });
      const error = { code: 'Boom', message: 'boom' };
      const retries = both.map((task) => ({ ...task, state: 'retry' as const, error, delayMs: 0 }));
      expect((await store.finishTasks(worker, retries)).map(({ outcome }) => outcome)).toEqual([
        'refused',
        'waiting',
      ]);
      const refused = await store.admissionPass((admission) => admission.markAdmitted(epoch, both));
      expect(refused).toEqual([{ task: id, entry: 1, runs: false }]);
      await claimOne(store, worker, { task: id, entry: 2 });
      const finishes = both.map((task) => ({ ...task, state: 'completed' as const, result: 1 }));
      expect((await store.finishTasks(worker, finishes)).map(({ outcome }) => outcome)).toEqual([
        'completed',
        'refused',
      ]);
    });

    test('runningOf names what the worker runs, and nothing else', async () => {
      const { store } = opened;
      const { id, worker } = await runningTask(store);
      await runningTask(store);
      expect(await store.runningOf(worker)).toEqual([{ task: id, entry: 1, canceling: false }]);
      await store.finishTasks(worker, [{ task: id, entry: 1, state: 'completed', result: null }]);
      expect(await store.runningOf(worker)).toEqual([]);
    });
  });
}

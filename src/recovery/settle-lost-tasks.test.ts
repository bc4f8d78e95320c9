import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { insertOf, requestOf } from '../../test/store/rows.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask, type TaskOptions } from '../tasks/definition.js';
import { openEpoch } from './open-epoch.js';
import { settleAllWorkers } from './settle-lost-tasks.js';

let place: Place;
const noChildren = async (): Promise<void> => {};

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);
beforeEach(async () => {
  place = await embeddedPlace();
});
afterEach(async () => {
  await place.close();
});

function load(name: string, options: Omit<Partial<TaskOptions>, 'payload'> = {}): void {
  place.definitions.set(name, defineTask({ name, run: () => {}, ...options }));
}

/** Dispatches tasks and lets a worker that nobody stops begin them. Returns their ids. */
async function runningTasks(...names: string[]): Promise<{ ids: string[]; incarnation: string }> {
  const claims: { task: string; entry: number; fence: string }[] = [];
  const epoch = await place.epoch.get();
  const ids = await place.dispatcher.dispatchMany(names.map((task) => ({ task })));
  for (const [index, { id }] of ids.entries()) claims.push({ task: id, entry: 1, fence: String(index) });
  const { incarnation } = await place.store.registerWorker({
    ...{ name: 'dead', kind: 'worker', host: 'h', pid: 1, identity: {}, ttlMs: 60_000, concurrency: 9 },
    ...{ queues: [], names: [], versions: {}, tableFormat: 1 },
  });
  await place.store.claimTasks({ worker: incarnation, epoch, claims });
  return { ids: ids.map(({ id }) => id), incarnation };
}

test('each task of a lost worker is settled by its policy, and the worker removed', async () => {
  load('once');
  load('twice', { maxAttempts: 2 });
  load('again', { onWorkerLost: 'retry' });
  load('never', { maxAttempts: 2, onWorkerLost: 'fail' });
  const { ids } = await runningTasks('once', 'twice', 'again', 'never');
  await settleAllWorkers(place, noChildren);
  const rows = await Promise.all(ids.map((id) => place.store.getTask(id)));
  expect(rows.map((row) => row?.state)).toEqual(['failed', 'waiting', 'waiting', 'failed']);
  expect(rows.map((row) => row?.entry)).toEqual([1, 2, 2, 1]);
  expect(await place.store.listWorkers({ after: null, limit: 10 })).toEqual([]);
});

test('a task that cannot be settled stops neither the others nor the start, and is settled the next time', async () => {
  load('once');
  const { ids, incarnation } = await runningTasks('once', 'once', 'once');
  const [, poisoned] = ids;
  const store = overriding(place.store, {
    settleLostTasks: async (worker, tasks) => {
      if (tasks.some(({ task }) => task === poisoned)) throw new Error('poisoned');
      return place.store.settleLostTasks(worker, tasks);
    },
  });
  await settleAllWorkers({ ...place, store }, noChildren);
  const states = async (): Promise<unknown[]> =>
    Promise.all(ids.map(async (id) => (await place.store.getTask(id))?.state));
  expect(await states()).toEqual(['failed', 'running', 'failed']);
  expect(await place.store.listWorkers({ after: null, limit: 10 })).toMatchObject([
    { incarnation, reaped: true },
  ]);
  expect(place.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { task: poisoned, incarnation } },
  ]);
  await settleAllWorkers(place, noChildren);
  expect(await place.store.listWorkers({ after: null, limit: 10 })).toEqual([]);
  expect(await states()).toEqual(['failed', 'failed', 'failed']);
});

test('what a lost worker ran goes on in the next epoch', async () => {
  load('again', { onWorkerLost: 'retry', run: () => 'done' });
  const { ids } = await runningTasks('again');
  await settleAllWorkers(place, noChildren);
  await openEpoch(place, 'always');
  await startWorker(place);
  expect(await inState(place, ids[0] ?? '', 'completed')).toMatchObject({
    entry: 2,
    attempt: 1,
    result: 'done',
  });
});

test('a late call of a settled worker changes nothing', async () => {
  load('again', { onWorkerLost: 'retry' });
  const { ids, incarnation } = await runningTasks('again');
  await place.store.reapWorker(incarnation);
  const finish = { task: ids[0] ?? '', entry: 1, state: 'completed', result: null } as const;
  expect(await place.store.finishTasks(incarnation, [finish])).toMatchObject([{ outcome: 'refused' }]);
  expect(await place.store.beat(incarnation)).toBe('reaped');
});

test('the ad-hoc locks of a lost process go with it, held or waited for', async () => {
  const epoch = await place.epoch.get();
  const { incarnation } = await place.store.registerWorker({
    ...{ name: 'dead', kind: 'api', host: 'h', pid: 1, identity: {}, ttlMs: 60_000, concurrency: 0 },
    ...{ queues: [], names: [], versions: {}, tableFormat: 1 },
  });
  const held = insertOf(incarnation, epoch, { lock: true });
  const asked = requestOf(incarnation);
  expect(await place.store.insertRunning(held)).toMatchObject({ status: 'running' });
  expect(await place.store.requestLock(asked)).toBe('requested');
  await settleAllWorkers(place, noChildren);
  expect(await place.store.listWorkers({ after: null, limit: 10 })).toEqual([]);
  expect(await place.store.getTask(held.task.id)).toBeNull();
  await startWorker(place);
  await waitUntil(
    async () => (await place.store.getTask(asked.lock.id)) === null,
    'admission has taken the request out',
  );
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { startWorker } from '../../test/worker/test-worker.js';
import { laneText } from '../lane.js';
import { defineTask } from '../tasks/definition.js';
import { admissionPass, firstPlace, nextPassSize, tasksPerPass, type PassOutcome } from './admission-pass.js';

let place: Place;
let epoch: string;
const lane = laneText({ queue: 'default', name: 'job', needs: {} });
const offers = [{ queues: ['default'], names: ['job'], versions: {}, tableFormat: 1 }];

beforeEach(async () => {
  place = await serverPlace();
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
  epoch = await place.epoch.get();
});
afterEach(async () => {
  await place.close();
});

function pass(
  ports: Partial<Pick<Place, 'store' | 'table'>> = {},
  afterPlace = firstPlace,
): Promise<PassOutcome> {
  return admissionPass({ ...place, ...ports }, { epoch, afterPlace, offers, limit: tasksPerPass });
}

async function dispatch(count: number, resource = 'r'): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => ({ task: 'job', exclusive: [resource] }));
  return (await place.dispatcher.dispatchMany(tasks)).map(({ id }) => id);
}

/** Takes up to so many granted holds and claims their tasks, in the name of a worker that no process runs. */
async function claimAs(name: string, limit: number): Promise<{ incarnation: string; tasks: string[] }> {
  const { incarnation } = await place.store.registerWorker({
    ...{ name, kind: 'worker', host: 'h', pid: 1, identity: {}, ttlMs: 60_000, concurrency: limit },
    ...{ queues: [], names: [], versions: {}, tableFormat: 1 },
  });
  const owner = { name, incarnation };
  await place.table.listOwner(epoch, owner);
  const answer = await place.table.claim(epoch, { owner, lanes: [lane], limit, lanesVersion: null });
  if (answer === 'unlisted') throw new Error('It is listed.');
  await place.store.claimTasks({ worker: incarnation, epoch, claims: answer.holds });
  return { incarnation, tasks: answer.holds.map(({ task }) => task) };
}

test('tasks are admitted in order of place, a batch a pass, until none is left', async () => {
  const ids = await dispatch(tasksPerPass + 10);
  const first = await pass();
  expect(first).toMatchObject({ status: 'done', admitted: tasksPerPass, takeOuts: [] });
  const next = first.status === 'done' ? first.next : null;
  expect(await pass({}, next ?? '')).toEqual({ status: 'done', admitted: 10, next: null, takeOuts: [] });
  expect(await place.store.admissionNeeded(epoch)).toEqual({
    lanes: [],
    admitted: [lane],
    due: false,
    takeOuts: false,
    rollbacksOver: false,
    free: null,
  });
  const [lock] = await place.table.inspectLocks(epoch, ['r'], 1_000);
  expect([lock?.holders[0]?.task, ...(lock?.waiting ?? []).map(({ task }) => task)]).toEqual(ids);
});

test('passes that the server ends become smaller, down to 20 tasks, and grow again', () => {
  let size = tasksPerPass;
  for (let failure = 0; failure < 10; failure += 1) size = nextPassSize(size, 'failed');
  expect(size).toBe(20);
  for (let pass = 0; pass < 10; pass += 1) size = nextPassSize(size, 'done');
  expect(size).toBe(tasksPerPass);
});

test('a lane that no live worker serves is left alone', async () => {
  await dispatch(1);
  const outcome = await admissionPass(place, {
    epoch,
    afterPlace: firstPlace,
    offers: [],
    limit: tasksPerPass,
  });
  expect(outcome).toMatchObject({ status: 'done', admitted: 0 });
});

test('a pass that died after entering is finished by the next one', async () => {
  const [id = ''] = await dispatch(1);
  const table = overriding(place.table, {
    enter: async (...args) => {
      await place.table.enter(...args);
      throw new Error('The process died here.');
    },
  });
  await expect(pass({ table })).rejects.toThrow('died');
  expect(await place.table.inspectHold(epoch, id)).toMatchObject({ entry: 1 });
  expect((await place.store.admissionNeeded(epoch)).lanes).toEqual([lane]);
  expect(await pass()).toMatchObject({ status: 'done', admitted: 1, takeOuts: [] });
  expect(await place.store.admissionNeeded(epoch)).toEqual({
    lanes: [],
    admitted: [lane],
    due: false,
    takeOuts: false,
    rollbacksOver: false,
    free: null,
  });
});

test('a task that is claimed between entering and marking keeps its hold', async () => {
  const [id = ''] = await dispatch(1);
  const table = overriding(place.table, {
    enter: async (...args) => {
      const answers = await place.table.enter(...args);
      expect((await claimAs('fast', 1)).tasks).toEqual([id]);
      return answers;
    },
  });
  expect(await pass({ table })).toMatchObject({ status: 'done', takeOuts: [] });
  expect(await place.table.inspectHold(epoch, id)).toMatchObject({ status: 'owned' });
});

test('the hold of a task that went on between selecting and entering is to be taken out', async () => {
  const [id = ''] = await dispatch(1);
  const { incarnation } = await claimAs('other', 0);
  const table = overriding(place.table, {
    enter: async (...args) => {
      await place.store.giveBackTasks(incarnation, [{ task: id, entry: 1 }]);
      return place.table.enter(...args);
    },
  });
  expect(await pass({ table })).toMatchObject({ takeOuts: [{ task: id, entry: 1 }] });
});

test('a worker takes out such a hold, and the task runs under its later entry', async () => {
  const { incarnation } = await claimAs('other', 0);
  let given = 0;
  const takenOut: unknown[] = [];
  const table = overriding(place.table, {
    enter: async (inEpoch, number, holds) => {
      const [first] = holds;
      if (first !== undefined && (given += 1) === 1) {
        // Blocked, so that nobody can claim it and find out.
        const blocker = { ...first, task: '00000000-0000-7000-8000-000000000000', entry: 1 };
        await place.table.enter(inEpoch, number, [blocker]);
        await place.store.giveBackTasks(incarnation, [{ task: first.task, entry: first.entry }]);
        const answers = await place.table.enter(inEpoch, number, holds);
        await place.table.takeOut(inEpoch, [blocker]);
        return answers;
      }
      return place.table.enter(inEpoch, number, holds);
    },
    takeOut: async (inEpoch, holds) => {
      takenOut.push(...holds);
      return place.table.takeOut(inEpoch, holds);
    },
  });
  const [id = ''] = await dispatch(1);
  await startWorker(place, { table, concurrency: 1 });
  await waitUntil(async () => (await place.store.getTask(id))?.state === 'completed', 'it ran');
  expect(await place.store.getTask(id)).toMatchObject({ entry: 2, attempt: 1 });
  expect(takenOut).toEqual([{ task: id, entry: 1 }]);
});

test('tasks whose older entry is still in the table are paged beyond', async () => {
  const busy = await dispatch(tasksPerPass, 'busy');
  await pass();
  const { incarnation } = await claimAs('other', 0);
  await place.store.giveBackTasks(
    incarnation,
    busy.map((task) => ({ task, entry: 1 })),
  );
  const [free = ''] = await dispatch(1, 'free');
  expect(await pass()).toMatchObject({ status: 'done', admitted: 1 });
  expect(await place.table.inspectHold(epoch, free)).toMatchObject({ status: 'granted' });
});

test('a row that somebody holds is entered and left unmarked, and counts as no progress', async () => {
  const [id = ''] = await dispatch(1);
  await place.database.transaction(async (client) => {
    await client.query(`SELECT FROM "${place.namespace}".tasks WHERE id = $1 FOR UPDATE`, [id]);
    expect(await pass()).toEqual({ status: 'done', admitted: 0, next: null, takeOuts: [] });
  });
  expect(await place.table.inspectHold(epoch, id)).toMatchObject({ status: 'granted' });
  expect(await pass()).toMatchObject({ admitted: 1 });
});

test('a pass that was overtaken by a later one stops', async () => {
  await dispatch(1);
  await place.table.enter(epoch, '1000000000', []);
  const later = { task: 'x', entry: 1, lane, priority: 0, place: '1', exclusive: [], shared: [] };
  await place.table.enter(epoch, '1000000000', [later]);
  expect(await pass()).toEqual({ status: 'older-pass' });
});

test('one pass at a time', async () => {
  await dispatch(1);
  let other: PassOutcome | undefined;
  const table = overriding(place.table, {
    enter: async (...args) => {
      other = await pass();
      return place.table.enter(...args);
    },
  });
  await pass({ table });
  expect(other).toEqual({ status: 'busy-elsewhere' });
});

test('a pass in an epoch that is not the committed one does nothing', async () => {
  await dispatch(1);
  const older = String(BigInt(epoch) - 1n);
  const outcome = await admissionPass(place, {
    epoch: older,
    afterPlace: firstPlace,
    offers,
    limit: tasksPerPass,
  });
  expect(outcome).toEqual({ status: 'epoch' });
});

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { Unavailable } from '../errors.js';
import { defineTask } from '../tasks/definition.js';
import { retryingTasks } from '../tasks/retry-tasks.js';
import { admissionPass, firstPlace, tasksPerPass } from './admission-pass.js';

let place: Place;
afterEach(async () => {
  await place.close();
});

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

const retry = retryingTasks(async () => {
  const { store, table } = place;
  return { store, wakeAdmission: () => void table.wakeAdmission() };
});

const offers = [{ queues: ['default'], names: ['job'], versions: {} }];

/** One pass, in the name of nobody; a worker of the test may be in the middle of its own. */
async function pass(): Promise<void> {
  const request = { epoch: await place.epoch.get(), afterPlace: firstPlace, offers, limit: tasksPerPass };
  await expect.poll(() => admissionPass(place, request)).toMatchObject({ status: 'done' });
}

async function holdOf(id: string): Promise<{ entry: number; status: string } | null> {
  return place.table.inspectHold(await place.epoch.get(), id);
}

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('%s', (_where, open) => {
  test('a task that failed runs again, and completes', async () => {
    place = await open();
    let broken = true;
    const run = (): string => {
      if (broken) throw new Error('broken');
      return 'whole';
    };
    place.definitions.set('job', defineTask({ name: 'job', run, maxAttempts: 2, backoff: { initial: 0 } }));
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
    expect(await inState(place, id, 'failed')).toMatchObject({ attempt: 2, entry: 2 });
    broken = false;
    expect(await retry(id)).toMatchObject({ entry: 3, attempt: 0, error: null });
    expect(await inState(place, id, 'completed')).toMatchObject({ attempt: 1, result: 'whole' });
    await holdsGone(place, id);
  });

  test('one that is canceled and retried at once comes in again, behind those that waited behind it', async () => {
    place = await open();
    const gate = latch();
    const order: unknown[] = [];
    place.definitions.set('held', defineTask({ name: 'held', run: () => gate.opened }));
    place.definitions.set('job', defineTask({ name: 'job', run: (payload) => void order.push(payload) }));
    await startWorker(place);
    const first = await place.dispatcher.dispatch('held', null, { exclusive: ['r'] });
    const retried = await place.dispatcher.dispatch('job', 'retried', { exclusive: ['r'] });
    const behind = await place.dispatcher.dispatch('job', 'behind', { exclusive: ['r'] });
    await inState(place, first.id, 'running');
    await waitUntil(() => holdOf(behind.id), 'both wait for the first');
    await place.store.cancelTask(retried.id);
    await retry(retried.id);
    const again = async (): Promise<boolean> => (await holdOf(retried.id))?.entry === 2;
    await waitUntil(again, 'the next entry is in');
    gate.open();
    for (const { id } of [behind, retried]) await inState(place, id, 'completed');
    expect(order).toEqual(['behind', 'retried']);
    await holdsGone(place, first.id, retried.id, behind.id);
    expect((await place.store.admissionNeeded(await place.epoch.get())).takeOuts).toBe(false);
  });

  test('canceled, retried and canceled again, nothing of either entry is left', async () => {
    place = await open();
    place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
    const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
    await pass();
    expect(await holdOf(id)).toMatchObject({ entry: 1 });
    await place.store.cancelTask(id);
    await retry(id);
    await place.store.cancelTask(id);
    await pass();
    expect(await holdOf(id)).toBeNull();
    expect((await place.store.admissionNeeded(await place.epoch.get())).takeOuts).toBe(false);
  });

  test('a mark goes where the next entry has come in', async () => {
    place = await open();
    place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
    const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
    await place.store.cancelTask(id);
    await retry(id);
    // A pass that died after it had entered the next entry.
    const dies = overriding(place.store, {
      admissionPass: (work) =>
        place.store.admissionPass(async (admission) => {
          await work(admission);
          throw new Error('died');
        }),
    });
    const request = { epoch: await place.epoch.get(), afterPlace: firstPlace, offers, limit: tasksPerPass };
    await expect(admissionPass({ ...place, store: dies }, request)).rejects.toThrow('died');
    expect(await holdOf(id)).toMatchObject({ entry: 2 });
    await pass();
    expect(await holdOf(id)).toMatchObject({ entry: 2, status: 'granted' });
    expect((await place.store.admissionNeeded(await place.epoch.get())).takeOuts).toBe(false);
  });
});

test('one whose hold has not been released yet comes in when it is', async () => {
  place = await serverPlace();
  let releases = false;
  let runs = 0;
  const run = (): void => {
    runs += 1;
    if (runs === 1) throw new Error('broken');
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  const table = overriding(place.table, {
    release: (epoch, holds) => {
      if (!releases) throw new Unavailable('Redis is away.');
      return place.table.release(epoch, holds);
    },
  });
  await startWorker(place, { table });
  const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
  await inState(place, id, 'failed');
  await retry(id);
  await pass();
  expect(await holdOf(id)).toMatchObject({ entry: 1, status: 'owned' });
  expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2 });
  releases = true;
  expect(await inState(place, id, 'completed')).toMatchObject({ entry: 2 });
  expect(runs).toBe(2);
  await holdsGone(place, id);
});

test('a finish that comes late, for the entry before, changes nothing', async () => {
  place = await serverPlace();
  const lost = latch();
  const known = latch();
  const sent: string[] = [];
  let runs = 0;
  const run = (): void => {
    runs += 1;
    if (runs === 1) throw new Error('broken');
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  const store = overriding(place.store, {
    finishTasks: async (worker, finishes) => {
      const outcomes = await place.store.finishTasks(worker, finishes);
      sent.push(...outcomes.map(({ outcome }) => outcome));
      if (sent.length > 1) return outcomes;
      lost.open();
      await known.opened;
      throw new Unavailable('The reply was lost.');
    },
  });
  await startWorker(place, { store });
  const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
  await lost.opened;
  await retry(id);
  known.open();
  expect(await inState(place, id, 'completed')).toMatchObject({ entry: 2, attempt: 1 });
  expect(sent).toEqual(['failed', 'refused', 'completed']);
  await holdsGone(place, id);
});

test('tasks canceled and retried at random moments run once for each retry at most, and all end', async () => {
  place = await serverPlace();
  const entries: string[] = [];
  place.definitions.set(
    'job',
    defineTask({ name: 'job', run: (_, { task }) => void entries.push(`${task.id} ${task.entry}`) }),
  );
  await startWorker(place, { concurrency: 20 });
  const requests = Array.from({ length: 200 }, (_, n) => ({ task: 'job', exclusive: [`r${n % 10}`] }));
  const dispatched = await place.dispatcher.dispatchMany(requests);
  await Promise.all(
    dispatched.flatMap(({ id }) => [place.store.cancelTask(id), retry([id]), place.store.cancelTask(id)]),
  );
  await retry({ state: 'canceled' });
  const ids = dispatched.map(({ id }) => id);
  const over = async (): Promise<boolean> => (await place.store.settledAmong(ids)).length === ids.length;
  await waitUntil(over, 'all are over', 60_000);
  expect(new Set(entries).size).toBe(entries.length);
  await holdsGone(place, ...ids);
});

test('what is to be retried is checked before anything is', async () => {
  place = await serverPlace();
  for (const [which, message] of [
    [{}, 'takes the state failed or canceled; got undefined'],
    [{ state: 'completed' }, 'got "completed"'],
    [{ state: [] }, 'needs a state'],
    [{ state: 'failed', nam: 'x' }, 'Did you mean "name"?'],
    [{ state: 'failed', limit: 0 }, 'limit must be a positive integer'],
    [7, 'takes its options as an object; got 7'],
  ] as const) {
    await expect(retry(which as never)).rejects.toThrow(message);
  }
  const { id } = await place.dispatcher.dispatch('job');
  await expect(retry(id)).rejects.toMatchObject({ code: 'WrongState' });
  await expect(retry('x')).rejects.toMatchObject({ code: 'NotFound' });
  await place.store.cancelTask(id);
  expect(await retry([id, id, 'x'])).toMatchObject({
    tasks: [{ id, state: 'waiting' }],
    refused: [
      { id, code: 'WrongState' },
      { id: 'x', code: 'NotFound' },
    ],
  });
});

test('a limit and a name keep the others back', async () => {
  place = await serverPlace();
  const requests = Array.from({ length: 1_200 }, (_, n) => ({ task: n % 2 === 0 ? 'even' : 'odd' }));
  const dispatched = await place.dispatcher.dispatchMany(requests);
  await Promise.all(dispatched.map(({ id }) => place.store.cancelTask(id)));
  expect(await retry({ state: 'canceled', name: 'even', limit: 550 })).toEqual({ retried: 550, refused: 0 });
  expect(await retry({ state: ['failed', 'canceled'] })).toEqual({ retried: 650, refused: 0 });
});

test('one that was retried and canceled in the midst of a retry of both states stays canceled', async () => {
  place = await serverPlace();
  place.definitions.set(
    'job',
    defineTask({
      name: 'job',
      run: () => {
        throw new Error('broken');
      },
    }),
  );
  const worker = await startWorker(place);
  const { id } = await place.dispatcher.dispatch('job');
  await inState(place, id, 'failed');
  await worker.stop();
  const store = overriding(place.store, {
    retryPage: async (page) => {
      const retried = await place.store.retryPage(page);
      if (page.state === 'failed') await place.store.cancelTask(id);
      return retried;
    },
  });
  const retryBoth = retryingTasks(async () => ({ store, wakeAdmission: () => {} }));
  expect(await retryBoth({ state: ['failed', 'canceled'] })).toEqual({ retried: 1, refused: 0 });
  expect((await place.store.getTask(id))?.state).toBe('canceled');
});

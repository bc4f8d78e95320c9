import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;
afterEach(async () => {
  await place.close();
});

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

const queues = { queues: ['default', 'q'] };

async function holdOf(id: string): Promise<{ entry: number; status: string } | null> {
  return place.table.inspectHold(await place.epoch.get(), id);
}

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('%s', (_where, open) => {
  test('what waits in a paused queue blocks nobody, what runs goes on, and all go on when it is resumed', async () => {
    place = await open();
    const gate = latch();
    const order: unknown[] = [];
    place.definitions.set('held', defineTask({ name: 'held', run: () => gate.opened }));
    place.definitions.set('job', defineTask({ name: 'job', run: (payload) => void order.push(payload) }));
    await startWorker(place, queues);
    const { dispatch } = place.dispatcher;
    const runs = await dispatch('held', null, { queue: 'q', exclusive: ['r'] });
    const first = await dispatch('job', 'first', { queue: 'q', exclusive: ['r', 'free'] });
    const second = await dispatch('job', 'second', { queue: 'q', exclusive: ['r', 'free'] });
    const other = await dispatch('job', 'other', { exclusive: ['free'] });
    await inState(place, runs.id, 'running');
    await waitUntil(
      async () => (await holdOf(other.id))?.status === 'queued',
      'the other one waits behind them',
    );
    await place.store.pauseQueue('q');
    await place.table.wakeAdmission();
    // Both stand before it in the queue of what it needs.
    await inState(place, other.id, 'completed');
    await holdsGone(place, first.id, second.id);
    const third = await dispatch('job', 'third', { queue: 'q', exclusive: ['free'] });
    gate.open();
    await inState(place, runs.id, 'completed');
    const last = await dispatch('job', 'last', { exclusive: ['free'] });
    await inState(place, last.id, 'completed');
    for (const { id } of [first, second, third])
      expect((await place.store.getTask(id))?.state).toBe('waiting');
    await place.store.resumeQueue('q');
    await place.table.wakeAdmission();
    for (const { id } of [first, second, third]) await inState(place, id, 'completed');
    expect(order).toEqual(['other', 'last', 'first', 'second', 'third']);
    await holdsGone(place, runs.id, first.id, second.id, third.id);
  });

  test('paused and resumed at once, the order stays', async () => {
    place = await open();
    const gate = latch();
    const order: unknown[] = [];
    place.definitions.set('held', defineTask({ name: 'held', run: () => gate.opened }));
    place.definitions.set('job', defineTask({ name: 'job', run: (payload) => void order.push(payload) }));
    await startWorker(place, queues);
    const { dispatch, dispatchMany } = place.dispatcher;
    const runs = await dispatch('held', null, { exclusive: ['r'] });
    const jobs = Array.from({ length: 30 }, (_, n) => ({
      ...{ task: 'job', payload: n, queue: 'q', exclusive: ['r'] },
    }));
    const before = await dispatchMany(jobs.slice(0, 20));
    const entered = async (): Promise<unknown> => holdOf(before.at(-1)?.id ?? '');
    await waitUntil(entered, 'the first are in the table');
    const more = await dispatchMany(jobs.slice(20));
    await place.store.pauseQueue('q');
    await place.store.resumeQueue('q');
    await place.table.wakeAdmission();
    await waitUntil(async () => (await holdOf(more.at(-1)?.id ?? ''))?.entry === 2, 'all are in again');
    gate.open();
    for (const { id } of [runs, ...before, ...more]) await inState(place, id, 'completed');
    expect(order).toEqual(jobs.map(({ payload }) => payload));
  });

  test('one that is given back into a paused queue holds nothing', async () => {
    place = await open();
    const started = latch();
    const run = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
      started.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    };
    place.definitions.set('long', defineTask({ name: 'long', run }));
    const worker = await startWorker(place, { ...queues, graceMs: 0 });
    const { id } = await place.dispatcher.dispatch('long', null, { queue: 'q', exclusive: ['r'] });
    await started.opened;
    await place.store.pauseQueue('q');
    await worker.stop();
    expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0 });
    expect(await holdOf(id)).toBeNull();
  });
});

test('nobody polls for the tasks of a paused queue', async () => {
  place = await serverPlace();
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
  await place.store.pauseQueue('q');
  await startWorker(place, queues);
  const { id } = await place.dispatcher.dispatch('job', null, { queue: 'q' });
  const other = await place.dispatcher.dispatch('job');
  await inState(place, other.id, 'completed');
  expect((await place.store.getTask(id))?.state).toBe('waiting');
  expect(await place.store.admissionNeeded(await place.epoch.get())).toMatchObject({ lanes: [], free: null });
});

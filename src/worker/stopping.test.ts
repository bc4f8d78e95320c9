import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';

const fixtures = fileURLToPath(new URL('./child-fixtures/tasks.mjs', import.meta.url));
let place: Place;

beforeEach(async () => {
  place = await serverPlace();
});
afterEach(() => place.close());

test('what finishes within the grace is finished', async () => {
  const started = latch();
  const gate = latch();
  const run = async (): Promise<string> => {
    started.open();
    await gate.opened;
    return 'done';
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  const worker = await startWorker(place, { graceMs: 20_000 });
  const { id } = await place.dispatcher.dispatch('job');
  await started.opened;
  const stopped = worker.stop();
  gate.open();
  await stopped;
  expect(await place.store.getTask(id)).toMatchObject({ state: 'completed', result: 'done', attempt: 1 });
  expect(await worker.ended).toBeNull();
});

test('what heeds its signal after the grace is given back at its place, nothing counted, and runs elsewhere', async () => {
  let runs = 0;
  const started = latch();
  const reasons: unknown[] = [];
  const run = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
    runs += 1;
    if (runs > 1) return;
    started.open();
    await delay(60_000, undefined, { signal }).catch(() => reasons.push(signal.reason));
    signal.throwIfAborted();
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  const worker = await startWorker(place, { graceMs: 50 });
  const { id } = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
  const behind = await place.dispatcher.dispatch('job', null, { exclusive: ['r'] });
  await started.opened;
  await worker.stop();
  expect(reasons).toMatchObject([{ name: 'AbortError', message: 'The worker stops.' }]);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0, crashes: 0 });
  expect((await place.table.findOwners(await place.epoch.get(), { after: null, limit: 10 })).length).toBe(0);
  expect((await place.table.inspectHold(await place.epoch.get(), id))?.status).toBe('granted');
  await startWorker(place);
  expect(await inState(place, id, 'completed')).toMatchObject({ attempt: 1 });
  await inState(place, behind.id, 'completed');
});

test('a handler that completes although it was asked to end has completed', async () => {
  const started = latch();
  const run = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<string> => {
    started.open();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'just in time';
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  const worker = await startWorker(place, { graceMs: 50 });
  const { id } = await place.dispatcher.dispatch('job');
  await started.opened;
  await worker.stop();
  expect(await place.store.getTask(id)).toMatchObject({ state: 'completed', result: 'just in time' });
});

test('a child that heeds neither its signal nor SIGTERM is killed, and its task given back', async () => {
  for (const one of await loadTaskFiles([fixtures])) place.definitions.set(one.name, one);
  const worker = await startWorker(place, { taskFiles: [fixtures], isolation: 'child', graceMs: 50 });
  const { id } = await place.dispatcher.dispatch('deaf');
  const progress = async (): Promise<boolean> => ((await place.store.getTask(id))?.progress.length ?? 0) > 0;
  await waitUntil(progress, 'the handler runs');
  await worker.stop();
  expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0, crashes: 0 });
});

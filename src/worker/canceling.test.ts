import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import type { LockTable } from '../locks/lock-table.js';
import { cancelTask, type CancelHint } from '../tasks/cancel-task.js';
import { defineTask, type TaskContext, type TaskDefinition } from '../tasks/definition.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import type { Task } from '../tasks/task.js';

const fixtures = fileURLToPath(new URL('./child-fixtures/tasks.mjs', import.meta.url));
let place: Place;
afterEach(async () => {
  await place.close();
});

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

function cancel(id: string, table: LockTable = place.table): Promise<Task> {
  return cancelTask({ store: place.store, hint: (hint) => void hint(table) }, id);
}

/** A task that runs until its signal aborts, and tells of both. */
function abortable(): { started: Promise<void>; aborted: Promise<Error> } {
  const started = latch();
  let abort: (reason: Error) => void;
  const aborted = new Promise<Error>((resolve) => {
    abort = resolve;
  });
  const definition = defineTask({
    name: 'abortable',
    run: async (_, { signal }) => {
      started.open();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      abort(signal.reason as Error);
      signal.throwIfAborted();
    },
  });
  place.definitions.set('abortable', definition);
  return { started: started.opened, aborted };
}

/** Once what was announced before has been heard: announcements are heard in order. */
async function cancelHeard(): Promise<void> {
  const heard = latch();
  const forget = place.table.onCanceling(([hold]) => void (hold?.task === 'after' && heard.open()));
  const again = setInterval(() => void place.table.announceCanceling([{ task: 'after', entry: 1 }]), 20);
  await heard.opened;
  clearInterval(again);
  forget();
}

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('%s', (_where, open) => {
  test('a waiting task is canceled at once, and those behind it go on', async () => {
    place = await open();
    const gate = latch();
    place.definitions.set('held', defineTask({ name: 'held', run: () => gate.opened }));
    place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
    await startWorker(place);
    const first = await place.dispatcher.dispatch('held', null, { exclusive: ['r'] });
    const queued = await place.dispatcher.dispatch('job', null, { exclusive: ['r', 'free'] });
    const behind = await place.dispatcher.dispatch('job', null, { exclusive: ['free'] });
    await inState(place, first.id, 'running');
    const queuedHold = async (): Promise<boolean> =>
      (await place.table.inspectHold(await place.epoch.get(), behind.id))?.status === 'queued';
    await waitUntil(queuedHold, 'the last one waits behind the one that waits');
    expect((await cancel(queued.id)).state).toBe('canceled');
    // The first still has what the second waited for.
    await inState(place, behind.id, 'completed');
    await holdsGone(place, queued.id);
    expect((await place.store.getTask(first.id))?.state).toBe('running');
    gate.open();
    await inState(place, first.id, 'completed');
  });

  test('a running task hears its signal abort, and is canceled and gone from the table', async () => {
    place = await open();
    const { started, aborted } = abortable();
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('abortable', null, { exclusive: ['r'] });
    await started;
    const asked = performance.now();
    expect((await cancel(id)).state).toBe('canceling');
    expect(await aborted).toMatchObject({ name: 'AbortError', message: 'The task was canceled.' });
    expect(performance.now() - asked).toBeLessThan(1_000);
    expect(await inState(place, id, 'canceled')).toMatchObject({ result: null, error: null });
    await holdsGone(place, id);
  });

  test('with every announcement lost it is found by the next beat', async () => {
    place = await open();
    const { started, aborted } = abortable();
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('abortable');
    await started;
    await cancel(id, overriding(place.table, { announceCanceling: async () => {} }));
    await aborted;
    await inState(place, id, 'canceled');
  });

  test('a handler that completes all the same has not: the task is canceled', async () => {
    place = await open();
    const running = latch();
    const gate = latch();
    const definition = defineTask({
      name: 'deaf',
      maxAttempts: 3,
      run: async () => {
        running.open();
        await gate.opened;
        return 'done';
      },
    });
    place.definitions.set('deaf', definition);
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('deaf');
    await running.opened;
    await cancel(id);
    gate.open();
    expect(await inState(place, id, 'canceled')).toMatchObject({ result: null, attempt: 1 });
    await holdsGone(place, id);
  });
});

test('told late, a cancel of an entry before stops nothing', async () => {
  place = await serverPlace();
  const runs: AbortSignal[] = [];
  const gate = latch();
  const run = async (_: unknown, { signal }: TaskContext): Promise<void> => {
    runs.push(signal);
    if (runs.length === 2) await gate.opened;
    else await delay(60_000, undefined, { signal });
  };
  place.definitions.set('job', defineTask({ name: 'job', run }));
  await startWorker(place);
  const { id } = await place.dispatcher.dispatch('job');
  await waitUntil(() => runs.length === 1, 'it runs');
  const late: CancelHint[] = [];
  await cancelTask({ store: place.store, hint: (hint) => late.push(hint) }, id);
  await inState(place, id, 'canceled');
  await place.store.retryTask(id);
  await waitUntil(() => runs.length === 2, 'it runs again');
  for (const hint of late) await hint(place.table);
  await cancelHeard();
  gate.open();
  await inState(place, id, 'completed');
  expect(runs.map(({ aborted }) => aborted)).toEqual([true, false]);
});

test('a worker that is stopping hears of a cancel that was not announced', async () => {
  place = await serverPlace();
  const { started, aborted } = abortable();
  const worker = await startWorker(place);
  const { id } = await place.dispatcher.dispatch('abortable');
  await started;
  const stopped = worker.stop();
  await place.store.cancelTask(id);
  await aborted;
  await stopped;
  expect((await place.store.getTask(id))?.state).toBe('canceled');
});

test('a task that is canceled before its handler begins does not begin', async () => {
  place = await serverPlace();
  let runs = 0;
  const parsing = latch();
  const gate = latch();
  const slow = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: async (value: unknown) => {
        parsing.open();
        await gate.opened;
        return { value };
      },
    },
  };
  const definition = defineTask({ name: 'slow', payload: slow, run: () => void (runs += 1) });
  await startWorker(place, { definitions: new Map([['slow', definition as TaskDefinition]]) });
  const { id } = await place.dispatcher.dispatch('slow');
  await parsing.opened;
  await cancel(id);
  await cancelHeard();
  gate.open();
  await inState(place, id, 'canceled');
  expect(runs).toBe(0);
  await holdsGone(place, id);
});

test('a child that ignores its signal and SIGTERM is killed', async () => {
  place = await serverPlace();
  for (const one of await loadTaskFiles([fixtures])) place.definitions.set(one.name, one);
  await startWorker(place, { taskFiles: [fixtures], isolation: 'child' });
  const { id } = await place.dispatcher.dispatch('deaf');
  const progress = async (): Promise<boolean> => ((await place.store.getTask(id))?.progress.length ?? 0) > 0;
  await waitUntil(progress, 'the handler runs');
  const asked = performance.now();
  await cancel(id);
  await inState(place, id, 'canceled', 20_000);
  // Five seconds to SIGTERM, two more to SIGKILL.
  expect(performance.now() - asked).toBeGreaterThan(6_900);
  await holdsGone(place, id);
});

test('1,000 tasks canceled at random moments all end, each as whoever was first decided', async () => {
  place = await serverPlace();
  place.definitions.set('quick', defineTask({ name: 'quick', run: async () => delay(Math.random() * 60) }));
  await startWorker(place, { concurrency: 50 });
  const tasks = Array.from({ length: 1_000 }, (_, n) => ({ task: 'quick', exclusive: [`r${n % 40}`] }));
  const dispatched = await place.dispatcher.dispatchMany(tasks);
  const answers = await Promise.allSettled(
    dispatched.map(async ({ id }) => {
      await delay(Math.random() * 1_500);
      return cancel(id);
    }),
  );
  const over = async (): Promise<boolean> =>
    (await place.store.settledAmong(dispatched.map(({ id }) => id))).length === dispatched.length;
  await waitUntil(over, 'all are in a final state', 60_000);
  const seen = new Set<string>();
  for (const [index, { id }] of dispatched.entries()) {
    const row = await place.store.getTask(id);
    const answer = answers[index];
    const asCanceled = answer?.status === 'fulfilled';
    expect(row?.state, id).toBe(asCanceled ? 'canceled' : 'completed');
    seen.add(asCanceled ? (row?.startedAt === null ? 'before it ran' : 'while it ran') : reasonOf(answer));
  }
  expect([...seen].toSorted()).toEqual(['WrongState', 'before it ran', 'while it ran']);
  await holdsGone(place, ...dispatched.map(({ id }) => id));
});

function reasonOf(answer: PromiseSettledResult<unknown> | undefined): string {
  return answer?.status === 'rejected' ? (answer.reason as { code: string }).code : 'none';
}

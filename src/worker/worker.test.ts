import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { latch } from '../../test/worker/latch.js';
import { defineTask, type TaskDefinition } from '../tasks/definition.js';
import { Unretryable } from '../tasks/unretryable.js';
import { waitUntil } from '../../test/helpers/wait-until.js';

let place: Place;
afterEach(async () => {
  await place.close();
});

function load(definition: { name: string }): void {
  place.definitions.set(definition.name, definition as TaskDefinition);
}

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

const fast = { initial: '10ms', max: '20ms' };

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('%s', (_where, open) => {
  test('a task runs with its fence, and leaves its result and no hold', async () => {
    place = await open();
    const seen: unknown[] = [];
    load(
      defineTask({
        name: 'add',
        payload: z.object({ a: z.number(), b: z.string().transform(Number) }),
        resources: ({ a }) => ({ exclusive: [`r:${a}`], shared: ['all'] }),
        run: ({ a, b }, ctx) => {
          seen.push(ctx.fence, ctx.attempt, ctx.task.state);
          return a + b;
        },
      }),
    );
    const worker = await startWorker(place);
    const { id } = await place.dispatcher.dispatch('add', { a: 1, b: '2' });
    const row = await inState(place, id, 'completed');
    expect(row).toMatchObject({ result: 3, attempt: 1, entry: 1, error: null, worker: worker.owner });
    expect(seen).toEqual([row.fence, 1, 'running']);
    await holdsGone(place, id);
    const [lock] = await place.table.inspectLocks(await place.epoch.get(), ['r:1'], 10);
    expect(lock).toMatchObject({ holders: [], waitingCount: 0 });
  });

  test('a failed attempt is retried as often as the definition says', async () => {
    place = await open();
    const attempts: number[] = [];
    load(
      defineTask({
        name: 'flaky',
        maxAttempts: 3,
        backoff: fast,
        run: (_payload, { attempt }) => {
          attempts.push(attempt);
          throw Object.assign(new Error(`attempt ${attempt}`), { code: 'E_FLAKY' });
        },
      }),
    );
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('flaky');
    const row = await inState(place, id, 'failed');
    expect(attempts).toEqual([1, 2, 3]);
    expect(row).toMatchObject({ attempt: 3, entry: 3, error: { code: 'E_FLAKY', message: 'attempt 3' } });
    await holdsGone(place, id);
  });

  test('what is thrown as unretryable fails at once', async () => {
    place = await open();
    load(
      defineTask({
        name: 'hopeless',
        maxAttempts: 3,
        backoff: fast,
        run: () => {
          throw new Unretryable('never');
        },
      }),
    );
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('hopeless');
    const row = await inState(place, id, 'failed');
    expect(row).toMatchObject({ attempt: 1, error: { code: 'Unretryable', message: 'never' } });
  });

  test('a payload that does not parse fails without a retry, and without running', async () => {
    place = await open();
    const { id } = await place.dispatcher.dispatch('strict', { size: 'large' });
    const ran: unknown[] = [];
    load(
      defineTask({
        name: 'strict',
        payload: z.object({ size: z.number() }),
        maxAttempts: 3,
        run: (payload) => void ran.push(payload),
      }),
    );
    await startWorker(place);
    const row = await inState(place, id, 'failed');
    expect(row).toMatchObject({ attempt: 1, error: { code: 'InvalidTask' } });
    expect(row.error?.message).toContain('size');
    expect(ran).toEqual([]);
  });

  test('a task that was dispatched with too few resources is admitted again with all of them', async () => {
    place = await open();
    const bare = await place.dispatcher.dispatch('wide', null, { exclusive: ['given'] });
    const finish = latch();
    const order: string[] = [];
    load(
      defineTask({
        name: 'wide',
        maxAttempts: 2,
        resources: () => ({ exclusive: ['own'], shared: ['store'] }),
        run: (_payload, ctx) => void order.push(`wide ${ctx.attempt} ${ctx.task.exclusive.join()}`),
      }),
    );
    load(
      defineTask({
        name: 'holder',
        resources: () => ({ exclusive: ['own'] }),
        run: async () => {
          order.push('holder');
          await finish.opened;
        },
      }),
    );
    const holder = await place.dispatcher.dispatch('holder');
    await startWorker(place);
    await inState(place, holder.id, 'running');
    await waitUntil(async () => (await place.store.getTask(bare.id))?.readmitted, 'it was readmitted');
    expect(order).toEqual(['holder']);
    finish.open();
    const row = await inState(place, bare.id, 'completed');
    expect(order).toEqual(['holder', 'wide 1 given,own']);
    expect(row).toMatchObject({ entry: 2, attempt: 1, exclusive: ['given', 'own'], shared: ['store'] });
    expect(row.policies?.maxAttempts).toBe(2);
    await holdsGone(place, bare.id, holder.id);
  });

  test('resources that change from one run to the next fail the task', async () => {
    place = await open();
    const { id } = await place.dispatcher.dispatch('fickle');
    let runs = 0;
    load(defineTask({ name: 'fickle', resources: () => ({ shared: [`r${(runs += 1)}`] }), run: () => {} }));
    await startWorker(place);
    const row = await inState(place, id, 'failed');
    expect(row).toMatchObject({ entry: 2, attempt: 1, error: { code: 'InvalidTask' } });
  });

  test('results and errors that cannot be stored do not keep their tasks from an end', async () => {
    place = await open();
    const cycle: Record<string, unknown> = {};
    cycle['cycle'] = cycle;
    const results: unknown[] = ['nul \0', cycle, 1n];
    load(defineTask({ name: 'odd', run: (index) => results[index as number] }));
    load(
      defineTask({
        name: 'loud',
        run: () => {
          throw new Error(`\0\uD800${'x'.repeat(1_000_000)}`);
        },
      }),
    );
    await startWorker(place);
    const odd = await Promise.all(results.map((_, index) => place.dispatcher.dispatch('odd', index)));
    const loud = await place.dispatcher.dispatch('loud');
    expect(await inState(place, odd[0]?.id ?? '', 'completed')).toMatchObject({ result: 'nul \uFFFD' });
    expect(await inState(place, odd[1]?.id ?? '', 'failed')).toMatchObject({
      error: { code: 'InvalidTask' },
    });
    expect(await inState(place, odd[2]?.id ?? '', 'failed')).toMatchObject({
      error: { code: 'InvalidTask' },
    });
    expect((await inState(place, loud.id, 'failed')).error?.message.length).toBeLessThan(10_000);
  });

  test('progress shows while the task runs, and its last lines with the end', async () => {
    place = await open();
    const finish = latch();
    load(
      defineTask({
        name: 'steps',
        run: async (_payload, { progress }) => {
          progress({ name: 'files', done: 1 });
          await finish.opened;
          progress({ name: 'files', done: 2 });
        },
      }),
    );
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('steps');
    const stored = async (): Promise<boolean> => (await place.store.getTask(id))?.progress.length === 1;
    await waitUntil(stored, 'the first progress is stored');
    expect((await place.store.getTask(id))?.state).toBe('running');
    finish.open();
    expect((await inState(place, id, 'completed')).progress).toEqual([{ name: 'files', done: 2 }]);
  });

  test('a handler dispatches tasks with its own as their parent', async () => {
    place = await open();
    load(defineTask({ name: 'parent', run: async (_payload, ctx) => (await ctx.dispatch('child', 7)).id }));
    load(defineTask({ name: 'child', run: (payload) => payload }));
    await startWorker(place);
    const parent = await place.dispatcher.dispatch('parent');
    const { result } = await inState(place, parent.id, 'completed');
    expect(await inState(place, String(result), 'completed')).toMatchObject({ result: 7, parent: parent.id });
  });

  test('an attempt that takes too long has failed, whatever its handler makes of the signal', async () => {
    place = await open();
    load(
      defineTask({
        name: 'slow',
        timeout: '50ms',
        run: (_payload, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve('as if nothing had happened'));
          }),
      }),
    );
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('slow');
    expect((await inState(place, id, 'failed')).error).toMatchObject({ code: 'Timeout', reason: 'timeout' });
  });

  test('an orderly stop waits for what runs, claims nothing more and leaves nothing', async () => {
    place = await open();
    const finish = latch();
    load(defineTask({ name: 'long', run: () => finish.opened.then(() => 'done') }));
    const worker = await startWorker(place, { concurrency: 1 });
    const running = await place.dispatcher.dispatch('long');
    await inState(place, running.id, 'running');
    const waiting = await place.dispatcher.dispatch('long');
    let hasStopped = false;
    const stopped = worker.stop().then(() => (hasStopped = true));
    await delay(500);
    expect(hasStopped).toBe(false);
    finish.open();
    await stopped;
    expect(await worker.ended).toBeNull();
    expect((await place.store.getTask(running.id))?.state).toBe('completed');
    expect((await place.store.getTask(waiting.id))?.state).toBe('waiting');
    const epoch = await place.epoch.get();
    expect(await place.table.findOwners(epoch, { after: null, limit: 10 })).toEqual([]);
    expect(await place.store.listWorkers({ after: null, limit: 10 })).toEqual([]);
  });

  test('one resource is served in the order of dispatch, on several slots of two workers', async () => {
    place = await open();
    const ran: number[] = [];
    let atOnce = 0;
    load(
      defineTask({
        name: 'ordered',
        resources: () => ({ exclusive: ['one'] }),
        run: async (index) => {
          expect((atOnce += 1)).toBe(1);
          ran.push(index as number);
          await new Promise((resolve) => setImmediate(resolve));
          atOnce -= 1;
        },
      }),
    );
    await startWorker(place, { name: 'a', concurrency: 4 });
    await startWorker(place, { name: 'b', concurrency: 4 });
    const tasks = Array.from({ length: 60 }, (_, index) => ({ task: 'ordered', payload: index }));
    const dispatched = await place.dispatcher.dispatchMany(tasks);
    await inState(place, dispatched.at(-1)?.id ?? '', 'completed', 25_000);
    expect(ran).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });

  test('a task is run by a worker that serves its lane, however late that comes', async () => {
    place = await open();
    load(
      defineTask({
        name: 'encode',
        needs: { ffmpeg: '>=6' },
        queue: 'media',
        run: (_payload, ctx) => ctx.task.worker?.name,
      }),
    );
    const { id } = await place.dispatcher.dispatch('encode');
    await startWorker(place, { name: 'default' });
    await startWorker(place, { name: 'old', queues: ['media'], versions: { ffmpeg: '5.1' } });
    await startWorker(place, { name: 'new', queues: ['media'], versions: { ffmpeg: '6.0' } });
    expect((await inState(place, id, 'completed')).result).toBe('new');
  });
});

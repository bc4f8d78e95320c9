import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiAt, nothingLeft, waitersOn } from '../../test/api/test-api.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { startWorker } from '../../test/worker/test-worker.js';
import { defineTask } from '../tasks/definition.js';
import { pauseQueue, resumeQueue } from '../tasks/pause-queue.js';

const now = { wait: 0 };
const soon = { wait: '20s' };
const r = { exclusive: ['r'] };

describe.each([
  ['on servers', serverPlace],
  ['embedded', embeddedPlace],
])('an ad-hoc lock, %s', (_, open) => {
  let place: Place;
  beforeEach(async () => {
    place = await open();
  });
  afterEach(() => place.close());

  test('is taken now, seen like a task, and released without a trace', async () => {
    const api = apiAt(place);
    const lock = await api.acquire({ exclusive: ['r'], shared: ['s', 'r', 's'] }, now);
    expect(lock).toMatchObject({ exclusive: ['r'], shared: ['s'] });
    const row = await place.store.getTask(lock.id);
    expect(row).toMatchObject({ state: 'running', fence: lock.fence, worker: { name: 'web' } });
    const hold = await place.table.inspectHold(await place.epoch.get(), lock.id);
    expect(hold).toMatchObject({ status: 'owned', owner: row?.worker, fence: lock.fence });
    expect(await place.store.listWorkers({ after: null, limit: 9 })).toMatchObject([
      { kind: 'api', queues: [], names: [], concurrency: 0, running: [lock.id] },
    ]);
    await Promise.all([lock.release(), lock.release()]);
    await lock.release();
    expect(await place.store.getTask(lock.id)).toBeNull();
    expect(await place.table.inspectHold(await place.epoch.get(), lock.id)).toBeNull();
    expect(lock.signal.aborted).toBe(false);
    await nothingLeft(place);
  });

  test('is not taken past a holder or a queue, and shared with others who share', async () => {
    const api = apiAt(place);
    await using reader = await api.acquire({ shared: ['r'] }, now);
    await using _second = await api.acquire({ shared: ['r'] }, now);
    await expect(api.acquire(r, now)).rejects.toMatchObject({ code: 'ResourcesBusy' });
    const writer = api.acquire(r, soon);
    await waitersOn(place, 'r', 1);
    await expect(api.acquire({ shared: ['r'] }, now)).rejects.toMatchObject({ code: 'ResourcesBusy' });
    await _second.release();
    await reader.release();
    await using lock = await writer;
    expect(lock.fence > reader.fence).toBe(true);
    await lock.release();
    await nothingLeft(place);
  });

  test('is not kept waiting by a pause', async () => {
    const api = apiAt(place);
    const first = await api.acquire(r, now);
    const second = api.acquire(r, soon);
    await waitersOn(place, 'r', 1);
    const ports = { store: place.store, wakeAdmission: () => void place.table.wakeAdmission() };
    await pauseQueue(ports, 'default');
    await expect(pauseQueue(ports, 'holdfast.locks')).rejects.toMatchObject({ code: 'InvalidTask' });
    await first.release();
    await (await second).release();
    await resumeQueue(ports, 'default');
    await nothingLeft(place);
  });

  test('waits in order with others', async () => {
    const api = apiAt(place);
    const first = await api.acquire(r, now);
    const order: number[] = [];
    const fences = [first.fence];
    const waits = [1, 2, 3].map(async (number) => {
      // One after the other, so that their order is known.
      await waitersOn(place, 'r', number - 1);
      const lock = await api.acquire(r, soon);
      order.push(number);
      fences.push(lock.fence);
      await lock.release();
    });
    await waitersOn(place, 'r', 3);
    await first.release();
    await Promise.all(waits);
    expect(order).toEqual([1, 2, 3]);
    expect([...fences].sort()).toEqual(fences);
    await nothingLeft(place);
  });

  test('waits in order with tasks', async () => {
    const api = apiAt(place);
    const done = latch();
    const order: string[] = [];
    place.definitions.set(
      'job',
      defineTask({
        name: 'job',
        resources: () => ({ exclusive: ['r'] }),
        run: async (payload) => {
          order.push(String(payload));
          if (payload === 'first') await done.opened;
        },
      }),
    );
    await startWorker(place);
    await place.dispatcher.dispatch('job', 'first');
    await waitUntil(() => order.length === 1, 'the first task runs');
    const lock = api.acquire(r, soon).then(async (taken) => {
      order.push('lock');
      await taken.release();
    });
    await waitersOn(place, 'r', 1);
    const second = await place.dispatcher.dispatch('job', 'second');
    await waitersOn(place, 'r', 2);
    done.open();
    await lock;
    await waitUntil(
      async () => (await place.store.getTask(second.id))?.state === 'completed',
      'the second task has run',
    );
    expect(order).toEqual(['first', 'lock', 'second']);
    await nothingLeft(place);
  });

  test('one who gives up waiting leaves no trace, and lets those behind go on', async () => {
    const api = apiAt(place);
    const held = await api.acquire({ shared: ['r'] }, now);
    const writer = expect(api.acquire(r, { wait: '3s' })).rejects.toMatchObject({ code: 'LockTimeout' });
    await waitersOn(place, 'r', 1);
    const reader = api.acquire({ shared: ['r'] }, soon);
    await waitersOn(place, 'r', 2);
    await writer;
    await (await reader).release();
    await held.release();
    await nothingLeft(place);
  });

  test('one who aborts waiting leaves no trace', async () => {
    const api = apiAt(place);
    const held = await api.acquire(r, now);
    const stop = new AbortController();
    const waiting = expect(api.acquire(r, { ...soon, signal: stop.signal })).rejects.toThrow('enough');
    await waitersOn(place, 'r', 1);
    stop.abort(new Error('enough'));
    await waiting;
    await waitersOn(place, 'r', 0);
    await expect(api.acquire(r, { ...soon, signal: stop.signal })).rejects.toThrow('enough');
    await held.release();
    await nothingLeft(place);
  });

  test('one who aborts while this process is being registered need not wait for that', async () => {
    const registering = latch();
    const registered = latch();
    const store = overriding(place.store, {
      registerWorker: async (worker) => {
        registering.open();
        await registered.opened;
        return place.store.registerWorker(worker);
      },
    });
    const api = apiAt(place, { store });
    const stop = new AbortController();
    const waiting = expect(api.acquire(r, { ...soon, signal: stop.signal })).rejects.toThrow('enough');
    await registering.opened;
    stop.abort(new Error('enough'));
    // Time enough for one that does not wait.
    const early = await Promise.race([waiting.then(() => 'ended'), delay(500, 'waits')]);
    registered.open();
    await waiting;
    expect(early).toBe('ended');
    await (await api.acquire(r, now)).release();
    await nothingLeft(place);
  });

  test('closing releases what is held and given out, and withdraws', async () => {
    const api = apiAt(place);
    const held = await api.acquire(r, now);
    const waiting = expect(api.acquire(r, soon)).rejects.toMatchObject({ code: 'Unavailable' });
    await waitersOn(place, 'r', 1);
    await api.close();
    await waiting;
    expect(held.signal.reason).toMatchObject({ code: 'LockLost' });
    await held.release();
    await expect(api.acquire(r, now)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(await place.store.listWorkers({ after: null, limit: 9 })).toEqual([]);
    const owners = await place.table.findOwners(await place.epoch.get(), { after: null, limit: 9 });
    expect(owners).toEqual([]);
    // Nobody needs to be there to admit.
    expect(await place.store.listTasks({ after: null, limit: 9 })).toEqual([]);
    await (await apiAt(place).acquire(r, now)).release();
    await nothingLeft(place);
  });

  test('who closes takes out what it waited for, where nobody else admits', async () => {
    const holder = apiAt(place);
    const held = await holder.acquire(r, now);
    const api = apiAt(place);
    const waiting = expect(api.acquire(r, soon)).rejects.toMatchObject({ code: 'Unavailable' });
    await waitersOn(place, 'r', 1);
    await api.close();
    await waiting;
    expect(await place.store.listTasks({ after: null, limit: 9 })).toMatchObject([{ id: held.id }]);
    await held.release();
    await (await holder.acquire(r, now)).release();
  });

  test.each([
    [{}, now],
    [{ exclusive: [] }, now],
    [{ exclusive: [''] }, now],
    [{ exclusive: 'r' }, now],
    [{ exklusive: ['r'] }, now],
    [r, undefined],
    [r, {}],
    [r, { wait: -1 }],
    [r, { wait: 'forever' }],
    [r, { wait: 0, waits: 1 }],
    [r, { wait: 0, signal: 1 }],
    [{ exclusive: Array.from({ length: 1_001 }, (_one, index) => `r${index}`) }, now],
  ])('%j with %j is InvalidTask', async (resources, options) => {
    const api = apiAt(place);
    const acquiring = api.acquire(resources as never, options as never);
    await expect(acquiring).rejects.toMatchObject({ code: 'InvalidTask' });
    expect(await place.store.listWorkers({ after: null, limit: 9 })).toEqual([]);
  });
});

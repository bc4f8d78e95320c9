import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiAt, nothingLeft, waitersOn } from '../../test/api/test-api.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { Unavailable } from '../errors.js';
import { defineTask, type TaskContext, type TaskOptions } from '../tasks/definition.js';

const immediate = { immediate: true };

let place: Place;
let contexts: TaskContext[];

function load(name: string, options: Omit<Partial<TaskOptions>, 'payload'> = {}): void {
  const run = options.run ?? (() => 'done');
  place.definitions.set(
    name,
    defineTask({
      ...{ name, resources: () => ({ exclusive: ['r'], shared: ['s'] }), ...options },
      run: (payload, context) => {
        contexts.push(context);
        return run(payload, context);
      },
    }),
  );
}

/** Handlers end when their signals abort. */
const untilAborted = (_payload: unknown, { signal }: TaskContext): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe.each([
  ['on servers', serverPlace],
  ['embedded', embeddedPlace],
])('an immediate task, %s', (_, open) => {
  beforeEach(async () => {
    contexts = [];
    place = await open();
  });
  afterEach(() => place.close());

  test('runs in this process as it would in a worker', async () => {
    const done = latch();
    load('job', { run: async (payload) => ({ payload, opened: await done.opened }), timeout: '20s' });
    apiAt(place);
    const task = await place.dispatcher.dispatch('job', { a: 1 }, { ...immediate, exclusive: ['r1'] });
    expect(task).toMatchObject({
      ...{ state: 'running', entry: 1, attempt: 1, exclusive: ['r', 'r1'], shared: ['s'] },
      ...{ worker: { name: 'web' }, payload: { a: 1 } },
    });
    expect(await place.store.getTask(task.id)).toMatchObject({ state: 'running', fence: task.fence });
    expect(await place.table.inspectHold(await place.epoch.get(), task.id)).toMatchObject({
      ...{ status: 'owned', owner: task.worker, fence: task.fence },
    });
    expect(contexts).toMatchObject([{ attempt: 1, fence: task.fence, task: { id: task.id } }]);
    done.open();
    expect(await inState(place, task.id, 'completed')).toMatchObject({ result: { payload: { a: 1 } } });
    await nothingLeft(place);
  });

  test('is refused where a resource is held or queued for, and deferred if that is wished', async () => {
    load('job');
    const api = apiAt(place);
    const held = await api.acquire({ shared: ['r1'] }, { wait: 0 });
    const writer = api.acquire({ exclusive: ['r1'] }, { wait: '20s' });
    await waitersOn(place, 'r1', 1);
    const reads = { ...immediate, shared: ['r1'] };
    const refused = place.dispatcher.dispatch('job', null, reads);
    await expect(refused).rejects.toMatchObject({ code: 'ResourcesBusy' });
    expect(await place.store.listTasks({ after: null, limit: 9, name: 'job' })).toEqual([]);
    const task = await place.dispatcher.dispatch('job', null, { ...reads, deferred: true });
    expect(task).toMatchObject({ state: 'waiting', attempt: 0, worker: null });
    await held.release();
    await (await writer).release();
    const worker = await startWorker(place);
    expect((await inState(place, task.id, 'completed')).worker).toEqual(worker.owner);
    await nothingLeft(place);
  });

  test('that fails with attempts left waits for a worker', async () => {
    load('job', {
      maxAttempts: 2,
      backoff: { initial: 0, max: 0 },
      run: (_payload, { attempt }) => {
        if (attempt === 1) throw new Error('once more');
        return attempt;
      },
    });
    apiAt(place);
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    await inState(place, id, 'waiting');
    await startWorker(place);
    expect(await inState(place, id, 'completed')).toMatchObject({ result: 2, entry: 2 });
    await nothingLeft(place);
  });

  test('is ended by its time limit and by a cancel', async () => {
    load('job', { run: untilAborted, timeout: '300ms' });
    load('endless', { run: untilAborted, resources: () => ({ exclusive: ['r1'] }) });
    // Its beats are too far apart for anything to be found by one.
    apiAt(place, { ttlMs: 60_000 });
    const slow = await place.dispatcher.dispatch('job', null, immediate);
    const endless = await place.dispatcher.dispatch('endless', null, immediate);
    expect(await inState(place, slow.id, 'failed')).toMatchObject({ error: { code: 'Timeout' } });
    await place.store.cancelTask(endless.id);
    await place.table.announceCanceling([{ task: endless.id, entry: 1 }]);
    await inState(place, endless.id, 'canceled');
    await nothingLeft(place);
  });

  test('hears at its next beat of a cancel that was not announced', async () => {
    load('job', { run: untilAborted });
    apiAt(place, { ttlMs: 1_500 });
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    await place.store.cancelTask(id);
    await inState(place, id, 'canceled');
    await nothingLeft(place);
  });

  test('is waited for when the process closes', async () => {
    const done = latch();
    load('job', { run: () => done.opened });
    const api = apiAt(place);
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    const closing = api.close();
    // Time enough for one that does not wait.
    const early = await Promise.race([closing.then(() => 'closed'), delay(500, 'waits')]);
    done.open();
    await closing;
    expect(early).toBe('waits');
    expect((await place.store.getTask(id))?.state).toBe('completed');
    expect(await place.store.listWorkers({ after: null, limit: 9 })).toEqual([]);
    await nothingLeft(place);
  });

  test('keeps what its handler has locked, and gets what that still asks for, while the process closes', async () => {
    const locked = latch();
    const closing = latch();
    const api = apiAt(place);
    const other = await apiAt(place).acquire({ exclusive: ['r1'] }, { wait: 0 });
    const run = async (): Promise<string> => {
      const lock = await api.acquire({ exclusive: ['r2'] }, { wait: 0 });
      locked.open();
      await closing.opened;
      const second = await api.acquire({ exclusive: ['r1'] }, { wait: '20s' });
      return lock.signal.aborted || second.signal.aborted ? 'lost' : 'kept';
    };
    load('job', { run });
    place.runNow = (prepared) => api.runNow(prepared);
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    await locked.opened;
    const closed = api.close();
    await expect(api.acquire({ exclusive: ['r3'] }, { wait: 0 })).rejects.toMatchObject({
      code: 'Unavailable',
    });
    closing.open();
    await waitersOn(place, 'r1', 1);
    await other.release();
    await closed;
    expect(await place.store.getTask(id)).toMatchObject({ state: 'completed', result: 'kept' });
    await nothingLeft(place);
  });

  test('that waits for a lock when the grace of a close is over is given back', async () => {
    const api = apiAt(place, { graceMs: 200 });
    await using _held = await apiAt(place).acquire({ exclusive: ['r1'] }, { wait: 0 });
    load('job', { run: () => api.acquire({ exclusive: ['r1'] }, { wait: '10m' }) });
    place.runNow = (prepared) => api.runNow(prepared);
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    await waitersOn(place, 'r1', 1);
    await api.close();
    expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  test.each([
    [{ immediate: 1 }, 'InvalidTask'],
    [{ deferred: true }, 'InvalidTask'],
    [{ ...immediate, deferred: 'yes' }, 'InvalidTask'],
    [{ ...immediate, runAt: '2030-01-31T08:00:00Z' }, 'InvalidTask'],
    [{ ...immediate, uniqueKey: 'k' }, 'InvalidTask'],
    [{ ...immediate, tx: { query: () => {} } }, 'InvalidTask'],
    [{ ...immediate, exclusive: [''] }, 'InvalidTask'],
  ])('with %j is %s', async (options, code) => {
    load('job');
    apiAt(place);
    const dispatching = place.dispatcher.dispatch('job', null, options as never);
    await expect(dispatching).rejects.toMatchObject({ code });
    expect(await place.store.listTasks({ after: null, limit: 9 })).toEqual([]);
  });

  test('that cannot run here is refused, or deferred if that is wished', async () => {
    load('child', { isolation: 'child' });
    load('picky', { needs: { ffmpeg: '>=6' } });
    apiAt(place);
    for (const name of ['child', 'picky']) {
      const refused = place.dispatcher.dispatch(name, null, immediate);
      await expect(refused).rejects.toMatchObject({ code: 'InvalidTask' });
      const deferred = await place.dispatcher.dispatch(name, null, { ...immediate, deferred: true });
      expect(deferred.state).toBe('waiting');
    }
    const unknown = place.dispatcher.dispatch('other', null, { ...immediate, deferred: true });
    await expect(unknown).rejects.toMatchObject({ code: 'UnknownTask' });
    const another = defineTask({ name: 'child', run: () => {} });
    const stranger = place.dispatcher.dispatch(another, null, immediate);
    await expect(stranger).rejects.toMatchObject({ code: 'UnknownTask' });
  });
});

describe('an immediate task', () => {
  beforeEach(async () => {
    contexts = [];
    place = await serverPlace();
  });
  afterEach(() => place.close());

  test('follows a change of the epoch between hold and insert', async () => {
    load('job');
    let changed = false;
    const store = overriding(place.store, {
      insertRunning: async (insert) => {
        if (!changed) {
          changed = true;
          await place.store.rebuild(async (rebuild) => {
            const epoch = await rebuild.drawEpoch(insert.epoch);
            await rebuild.commitEpoch({ epoch, identity: 'another server' });
          });
        }
        return place.store.insertRunning(insert);
      },
    });
    apiAt(place, { store });
    const { id } = await place.dispatcher.dispatch('job', null, immediate);
    await inState(place, id, 'completed');
    expect(contexts).toHaveLength(1);
    await nothingLeft(place);
  });

  test('never runs after a reaping between hold and insert', async () => {
    load('job');
    const store = overriding(place.store, {
      insertRunning: async (insert) => {
        await place.store.reapWorker(insert.worker);
        return place.store.insertRunning(insert);
      },
    });
    apiAt(place, { store });
    const dispatching = place.dispatcher.dispatch('job', null, immediate);
    await expect(dispatching).rejects.toMatchObject({ code: 'Fenced' });
    expect(contexts).toEqual([]);
    expect(await place.store.listTasks({ after: null, limit: 9 })).toEqual([]);
  });

  test('whose insert was done and its reply lost never runs, and leaves no trace', async () => {
    load('job');
    const store = overriding(place.store, {
      insertRunning: async (insert) => {
        await place.store.insertRunning(insert);
        throw new Unavailable('The reply was lost.');
      },
    });
    apiAt(place, { store });
    const dispatching = place.dispatcher.dispatch('job', null, immediate);
    await expect(dispatching).rejects.toMatchObject({ code: 'Unavailable' });
    await nothingLeft(place);
    expect(contexts).toEqual([]);
    expect(await place.store.listTasks({ after: null, limit: 9 })).toEqual([]);
  });

  test('hears its signal abort when the process is fenced, and nothing is written about it', async () => {
    load('job', { run: untilAborted });
    apiAt(place, { ttlMs: 1_500 });
    const { id, worker } = await place.dispatcher.dispatch('job', null, immediate);
    await place.store.reapWorker(worker?.incarnation ?? '');
    await waitUntil(() => contexts[0]?.signal.aborted, 'it hears of it');
    expect(contexts[0]?.signal.reason).toMatchObject({ code: 'Fenced' });
    expect((await place.store.getTask(id))?.state).toBe('running');
  });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { overriding } from '../../test/worker/overriding.js';
import { inState, startWorker } from '../../test/worker/test-worker.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { z } from 'zod';
import { latch } from '../../test/worker/latch.js';
import type { Store } from '../store/store.js';
import { defineTask, type TaskDefinition } from '../tasks/definition.js';

let place: Place;
beforeEach(async () => {
  place = await serverPlace();
});
afterEach(async () => {
  await place.close();
});

test('a worker that finds itself reaped aborts its tasks, rejects with Fenced and writes nothing more', async () => {
  const reasons: unknown[] = [];
  place.definitions.set(
    'job',
    defineTask({
      name: 'job',
      run: async (_payload, { signal, dispatch }) => {
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
        reasons.push(signal.reason);
        await dispatch('job').catch((error: unknown) => reasons.push(error));
        return 'too late';
      },
    }),
  );
  const calls: string[] = [];
  let fenced = false;
  const store: Store = overriding(place.store, {
    finishTasks: async (worker, finishes) => {
      calls.push('finish');
      return place.store.finishTasks(worker, finishes);
    },
    giveBackTasks: async (worker, tasks) => {
      calls.push('give back');
      return place.store.giveBackTasks(worker, tasks);
    },
    claimTasks: async (claim) => {
      if (fenced) calls.push('claim');
      return place.store.claimTasks(claim);
    },
  });
  const told: { handlers: number }[] = [];
  const worker = await startWorker(place, {
    store,
    onFenced: (fencing) => {
      fenced = true;
      told.push(fencing);
    },
  });
  const { id } = await place.dispatcher.dispatch('job');
  await inState(place, id, 'running');
  await place.store.reapWorker(worker.owner.incarnation);
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(told).toMatchObject([{ handlers: 1 }]);
  await waitUntil(() => reasons.length === 2, 'the signal aborted');
  expect(reasons).toMatchObject([{ code: 'Fenced' }, { code: 'Fenced' }]);
  // Another dispatch finds nobody: the fenced one has stopped claiming.
  const later = await place.dispatcher.dispatch('job');
  expect(calls).toEqual([]);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'running', entry: 1 });
  expect(await place.store.getTask(later.id)).toMatchObject({ state: 'waiting' });
  expect(await place.table.inspectHold(await place.epoch.get(), id)).toMatchObject({ owner: worker.owner });
});

test('a finish of a worker that was reaped fences it, and leaves its hold to the sweep', async () => {
  let reap: () => Promise<unknown> = async () => {};
  place.definitions.set(
    'job',
    defineTask({
      name: 'job',
      run: async () => {
        await reap();
      },
    }),
  );
  // Its beats are so rare that the finish finds out first.
  const worker = await startWorker(place, { ttlMs: 60_000 });
  reap = () => place.store.reapWorker(worker.owner.incarnation);
  const { id } = await place.dispatcher.dispatch('job');
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(await place.store.getTask(id)).toMatchObject({ state: 'running' });
  expect(await place.table.inspectHold(await place.epoch.get(), id)).toMatchObject({ owner: worker.owner });
});

test('a task whose preparation outlives the worker never runs', async () => {
  const preparing = latch();
  const prepared = latch();
  const ran: unknown[] = [];
  place.definitions.set(
    'job',
    defineTask({
      name: 'job',
      payload: z.any().transform(async (value: unknown) => {
        preparing.open();
        await prepared.opened;
        return value;
      }),
      run: (payload) => void ran.push(payload),
    }) as TaskDefinition,
  );
  const worker = await startWorker(place);
  const { rows } = await place.database.query<{ id: string }>(
    `SELECT "${place.namespace}".dispatch('job') AS id`,
  );
  await preparing.opened;
  await place.store.reapWorker(worker.owner.incarnation);
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  prepared.open();
  await waitUntil(() => new Promise((resolve) => setImmediate(() => resolve(true))), 'it had its turn');
  expect(ran).toEqual([]);
  expect(await place.store.getTask(rows[0]?.id ?? '')).toMatchObject({ state: 'running' });
});

test.each([
  ['throws', () => Promise.reject(new Error('mine'))],
  [
    'throws at once',
    () => {
      throw new Error('mine');
    },
  ],
])(
  'onUnstoppable is told once of handlers that outlive a fence, and may throw: it %s',
  async (_how, fail) => {
    const gate = latch();
    place.definitions.set('deaf', defineTask({ name: 'deaf', run: () => gate.opened }));
    const told: unknown[] = [];
    const onUnstoppable = (unstoppable: unknown): void => {
      told.push(unstoppable);
      // As a function that is async may do, whatever its type says.
      return fail() as never;
    };
    const worker = await startWorker(place, { ttlMs: 1_500, onUnstoppable });
    const { id } = await place.dispatcher.dispatch('deaf');
    await inState(place, id, 'running');
    await place.store.reapWorker(worker.owner.incarnation);
    const logged = (): boolean => place.lines.some(({ message }) => message === 'onUnstoppable threw');
    await waitUntil(logged, 'it is told, and its error is logged');
    expect(await worker.ended).toMatchObject({ code: 'Fenced' });
    expect(told).toEqual([{ handlers: 1 }]);
    gate.open();
  },
);

import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProxy } from '../../test/helpers/tcp-proxy.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch, type Latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place, type ServerUrls } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { Unavailable } from '../errors.js';
import { createRedisLockTable } from '../locks/redis/redis-lock-table.js';
import { defineTask } from '../tasks/definition.js';

/** Beats so rare that the comparison with memory cannot help. */
const rareBeats = { ttlMs: 600_000 };
let place: Place;
let finish: Latch;
let runs: string[];
const ends: (() => Promise<void>)[] = [];

async function open(urls: ServerUrls = {}): Promise<void> {
  place = await serverPlace(urls);
  const run = async (payload: unknown, ctx: { task: { id: string } }): Promise<unknown> => {
    runs.push(ctx.task.id);
    await finish.opened;
    return payload;
  };
  place.definitions.set('job', defineTask({ name: 'job', resources: () => ({ exclusive: ['r'] }), run }));
  place.definitions.set('free', defineTask({ name: 'free', run }));
}

beforeEach(() => {
  finish = latch();
  runs = [];
});
afterEach(async () => {
  await place.close();
  for (const end of ends.splice(0)) await end();
});

test('a finish whose reply is lost is sent again, and finishes once', async () => {
  await open();
  let lost = 0;
  const outcomes: unknown[] = [];
  const store = overriding(place.store, {
    finishTasks: async (worker, finishes) => {
      const outcome = await place.store.finishTasks(worker, finishes);
      outcomes.push(...outcome.map((one) => one.outcome));
      if ((lost += 1) <= 2) throw new Unavailable('The reply was lost.');
      return outcome;
    },
  });
  await startWorker(place, { store });
  finish.open();
  const { id } = await place.dispatcher.dispatch('job', 5);
  expect(await inState(place, id, 'completed')).toMatchObject({ result: 5, attempt: 1 });
  await holdsGone(place, id);
  expect(outcomes).toEqual(['completed', 'refused', 'refused']);
  expect(runs).toEqual([id]);
});

test('an end that the server will not take fails its task, and no other', async () => {
  await open();
  let poisoned = '';
  const store = overriding(place.store, {
    finishTasks: async (worker, finishes) => {
      const bad = finishes.some((one) => one.task === poisoned && one.state === 'completed');
      if (bad) throw new Error('invalid input');
      return place.store.finishTasks(worker, finishes);
    },
  });
  await startWorker(place, { store });
  const tasks = await place.dispatcher.dispatchMany([1, 2, 3].map((payload) => ({ task: 'free', payload })));
  const [first = '', second = '', third = ''] = tasks.map(({ id }) => id);
  poisoned = second;
  await waitUntil(() => runs.length === 3, 'all three run');
  finish.open();
  await inState(place, first, 'completed');
  await inState(place, third, 'completed');
  expect(await inState(place, second, 'failed')).toMatchObject({ error: { code: 'InvalidTask' } });
  await holdsGone(place, first, second, third);
});

test('a release that fails while Redis is out of reach is done afterwards', async () => {
  const proxy = await startProxy(sharedRedisUrl());
  ends.push(() => proxy.stop());
  await open({ redisUrl: proxy.url });
  const direct = createRedisLockTable({ url: sharedRedisUrl(), namespace: place.namespace });
  await direct.start();
  ends.push(() => direct.stop());
  await startWorker(place, rareBeats);
  const [first, second] = await place.dispatcher.dispatchMany([{ task: 'job' }, { task: 'job' }]);
  await inState(place, first?.id ?? '', 'running');
  const epoch = await place.epoch.get();
  proxy.silence();
  finish.open();
  await inState(place, first?.id ?? '', 'completed');
  await waitUntil(() => place.lines.some(({ message }) => message.includes('releasing')), 'a release failed');
  expect(await direct.inspectHold(epoch, first?.id ?? '')).toMatchObject({ status: 'owned' });
  proxy.heal();
  await inState(place, second?.id ?? '', 'completed', 20_000);
  await holdsGone(place, first?.id ?? '', second?.id ?? '');
  expect(runs).toHaveLength(2);
});

test('an end that is ready while PostgreSQL is out of reach is written afterwards', async () => {
  const proxy = await startProxy(sharedPostgresUrl());
  ends.push(() => proxy.stop());
  await open({ postgresUrl: proxy.url });
  await startWorker(place, { ttlMs: 15_000 });
  const { id } = await place.dispatcher.dispatch('job', 'kept');
  await inState(place, id, 'running');
  proxy.silence();
  proxy.reset();
  finish.open();
  const failed = (): boolean => place.lines.some(({ message }) => message.includes('finishing'));
  // A connection that is being made is given up after 15 s.
  await waitUntil(failed, 'a finish failed', 20_000);
  proxy.heal();
  proxy.reset();
  expect(await inState(place, id, 'completed', 20_000)).toMatchObject({ result: 'kept' });
  await holdsGone(place, id);
});

test('a release is done in the epoch that was built before the end was written', async () => {
  await open();
  const { id } = await place.dispatcher.dispatch('job');
  let epochs = 0;
  const store = overriding(place.store, {
    finishTasks: async (worker, finishes) => {
      if ((epochs += 1) === 1) {
        const { epoch: committed } = await place.store.readNamespace();
        const { openEpoch } = await import('../recovery/open-epoch.js');
        const opened = await openEpoch(place, 'always');
        expect(opened).not.toBe(committed);
        expect(await place.table.inspectHold(opened, id)).toMatchObject({ status: 'owned' });
      }
      return place.store.finishTasks(worker, finishes);
    },
  });
  await startWorker(place, { store, ...rareBeats });
  finish.open();
  await inState(place, id, 'completed');
  const released = async (): Promise<boolean> => {
    const record = await place.table.readEpoch();
    return (await place.table.inspectHold(record?.epoch ?? '', id)) === null;
  };
  await waitUntil(released, 'its hold is gone from the new epoch');
});

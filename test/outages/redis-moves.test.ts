import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startRedisCluster } from '../helpers/redis-cluster.js';
import { startRedisSentinel } from '../helpers/redis-sentinel.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';

const args = ['--ttl', '15s', '--concurrency', '10'];
const unhandled = /[Uu]nhandled|uncaught|fenced/;

/** Holders of r0 … r5, until the gate is open. */
async function hold(place: OutagePlace): Promise<string[]> {
  const held = await place.hf.dispatchMany(
    Array.from({ length: 6 }, (_, n) => ({
      ...{ name: 'holds', payload: { until: place.gate }, exclusive: [`r${n}`] },
    })),
  );
  const ids = held.map(({ id }) => id);
  const allBegun = async (): Promise<boolean> => {
    const tasks = await Promise.all(ids.map((id) => place.hf.tasks.get(id)));
    return tasks.every(({ progress }) => progress.length > 0);
  };
  await waitUntil(allBegun, 'they run', 30_000);
  return ids;
}

/** On the resources that are held, and on others. */
async function keepDispatching(place: OutagePlace, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await place.hf.dispatchMany(
      Array.from({ length: 12 }, (_, n) => ({ name: 'work', payload: { ms: 5 }, exclusive: [`r${n}`] })),
    );
    await delay(250);
  }
}

async function canaryMs(place: OutagePlace): Promise<number> {
  const started = performance.now();
  const { id } = await place.hf.dispatch('work', {});
  await place.hf.wait(id, { timeout: '40s' });
  return Math.round(performance.now() - started);
}

async function committedEpoch({ sql }: OutagePlace): Promise<unknown> {
  const [row] = await sql<{ epoch: string }>('SELECT epoch::text FROM ns.namespace');
  return row?.epoch;
}

async function openEpochOf(url: string, { namespace }: OutagePlace): Promise<unknown> {
  const redis = new Redis(url);
  try {
    return await redis.hget(`{${namespace}}:epoch`, 'number');
  } finally {
    redis.disconnect();
  }
}

test('Sentinels that fail over again and again, under load', async (context) => {
  const sentinel = await startRedisSentinel();
  context.onTestFinished(() => sentinel.stop());
  const place = await outagePlace(context, { direct: { redis: sentinel.url }, withoutRedisProxy: true });
  const workers = await Promise.all(['a', 'b'].map((name) => place.worker([...args, '--name', name])));
  const ids = await hold(place);
  const ending = new AbortController();
  const dispatching = keepDispatching(place, ending.signal);
  const control = new Redis(Number(new URL(sentinel.url.replace('redis+sentinel', 'http')).port));
  const master = async (): Promise<number> =>
    Number(((await control.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')) as string[])[1]);
  const took: number[] = [];
  for (let times = 0; times < Number(process.env['OUTAGES_FAILOVERS'] ?? 2); times++) {
    const before = await master();
    const asked = async (): Promise<boolean> =>
      (await control.call('SENTINEL', 'FAILOVER', 'main').catch(() => null)) === 'OK';
    await waitUntil(asked, 'the Sentinel begins to fail over', 30_000);
    await waitUntil(async () => (await master()) !== before, 'there is another master', 30_000);
    took.push(await canaryMs(place));
  }
  console.log(`after each fail-over a task ended within ${took.join(', ')} ms`);
  // 5 s where the machine has nothing else to do.
  expect(Math.max(...took)).toBeLessThan(20_000);
  ending.abort();
  await dispatching;
  place.openGate();
  // A machine that is busy makes it fail over by itself, too.
  await control.call('SENTINEL', 'SET', 'main', 'down-after-milliseconds', '60000');
  const inUse = async (): Promise<string | null> => {
    const url = `redis://127.0.0.1:${await master()}`;
    return (await openEpochOf(url, place)) === (await committedEpoch(place)) ? url : null;
  };
  place.direct.redis = (await waitUntil(inUse, 'the master has the committed epoch', 60_000)) ?? '';
  control.disconnect();
  await place.end({ limitMs: 100_000 });
  for (const id of ids) {
    expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1, attempt: 1 });
  }
  for (const { stderr } of workers) expect(stderr).not.toMatch(unhandled);
});

test('a Cluster in which the slot of the namespace moves, key by key, under load', async (context) => {
  const cluster = await startRedisCluster();
  context.onTestFinished(() => cluster.stop());
  const place = await outagePlace(context, { direct: { redis: cluster.url }, withoutRedisProxy: true });
  const workers = await Promise.all(['a', 'b'].map((name) => place.worker([...args, '--name', name])));
  const ids = await hold(place);
  const ending = new AbortController();
  const dispatching = keepDispatching(place, ending.signal);
  const nodes = cluster.masters.map(({ port }) => new Redis(port));
  const slot = Number(await nodes[0]?.call('CLUSTER', 'KEYSLOT', `{${place.namespace}}`));
  const counts = await Promise.all(nodes.map((node) => node.call('CLUSTER', 'COUNTKEYSINSLOT', slot)));
  const at = counts.findIndex((count) => Number(count) > 0);
  const to = (at + 1) % nodes.length;
  const [source, target] = [nodes[at] as Redis, nodes[to] as Redis];
  const port = cluster.masters[to]?.port ?? 0;
  const [sourceId, targetId] = await Promise.all(
    [source, target].map((node) => node.call('CLUSTER', 'MYID')),
  );
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId as string);
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId as string);
  const move = async (which: (key: string) => boolean): Promise<number> => {
    const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 10_000)) as string[];
    const chosen = keys.filter(which);
    for (const key of chosen) await source.call('MIGRATE', '127.0.0.1', port, key, 0, 5_000);
    return chosen.length;
  };
  // The locks are gone, and all else is still there: who looks now finds every resource free.
  expect(await move((key) => /:(lock|queue):/.test(key))).toBeGreaterThan(5);
  await delay(2_000);
  while ((await move(() => true)) > 0);
  for (const node of nodes) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId as string);
  const ms = await canaryMs(place);
  console.log(`after the slot has moved a task ended within ${ms} ms`);
  expect(ms).toBeLessThan(20_000);
  ending.abort();
  await dispatching;
  place.openGate();
  for (const node of nodes) node.disconnect();
  place.direct.redis = `redis://127.0.0.1:${port}`;
  await place.end({ limitMs: 100_000 });
  for (const id of ids) {
    expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1, attempt: 1 });
  }
  for (const { stderr } of workers) expect(stderr).not.toMatch(unhandled);
});

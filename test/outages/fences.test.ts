import { Redis } from 'ioredis';
import { createHoldfast, type Holdfast } from 'holdfast';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startRedisSentinel } from '../helpers/redis-sentinel.js';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../helpers/servers.js';

let namespace: string;
let holdfast: Holdfast;
beforeEach(() => {
  namespace = uniqueNamespace();
});
afterEach(async () => {
  await holdfast.close();
  await dropNamespace(namespace);
});

async function open(redis: string): Promise<void> {
  holdfast = await createHoldfast({ database: sharedPostgresUrl(), redis, namespace, migrate: true });
}

/** Of a lock that is held and released: again and again while the lock table is away. */
async function nextFence(): Promise<string> {
  for (;;) {
    try {
      await using lock = await holdfast.locks.acquire({ exclusive: ['repo:7'] }, { wait: '20s' });
      return lock.fence;
    } catch (error) {
      if ((error as { code?: string }).code !== 'Unavailable') throw error;
    }
  }
}

/** Several of each epoch: its counter begins anew, and must not lead to a smaller one. */
async function fences(): Promise<string[]> {
  return [await nextFence(), await nextFence(), await nextFence()];
}

function expectGrowing(all: string[]): void {
  expect([...new Set(all)].sort()).toEqual(all);
}

async function flush({ url }: RedisServer): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
}

test('a later holder has a larger fence, when Redis was flushed and when it came back empty', async () => {
  let redis = await startRedis();
  await open(redis.url);
  const all = await fences();
  await flush(redis);
  all.push(...(await fences()));
  await redis.stop();
  redis = await startRedis({ port: redis.port });
  all.push(...(await fences()));
  expectGrowing(all);
  await redis.stop();
}, 60_000);

test('a later holder has a larger fence when a replica has taken over', async () => {
  const sentinel = await startRedisSentinel();
  await open(sentinel.url);
  const all = await fences();
  sentinel.master.kill('SIGKILL');
  all.push(...(await fences()));
  expectGrowing(all);
  await sentinel.stop();
}, 90_000);

import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { cleanupLocksForWorker } from '../../../src/recovery/cleanup-locks-for-worker.js';
import { startRedis } from '../../helpers/redis-server.js';
import { costsBeside } from '../../recovery/cleanup-cost.js';
import { largeDeadOwner } from '../../recovery/large-owner.js';
import { serverPlace } from '../../worker/place.js';

test('cleaning up after one owner costs the same beside 100 and 1,000,000 locks of others', async () => {
  const server = await startRedis();
  try {
    const few = await costsBeside(100, server.url);
    const many = await costsBeside(1_000_000, server.url);
    console.log('commands by path:', many.costs, 'of a scan:', many.scan);
    expect(many.costs).toEqual(few.costs);
    expect(many.scan['scan']).toBeGreaterThan(900);
  } finally {
    await server.stop();
  }
}, 600_000);

test('an owner of 10,000 holds with 5 locks each is cleaned up in batches, none of which takes Redis 50 ms', async () => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const place = await serverPlace({ redisUrl: server.url });
  try {
    const { owner, ids } = await largeDeadOwner(place, 10_000);
    await redis.config('SET', 'slowlog-log-slower-than', '1000');
    await redis.slowlog('RESET');
    const started = performance.now();
    expect(await cleanupLocksForWorker(place, owner)).toBe(true);
    const seconds = (performance.now() - started) / 1_000;
    const slow = (await redis.slowlog('GET', 1_000)) as [number, number, number, string[]][];
    const longestMs = Math.max(0, ...slow.map(([, , microseconds]) => microseconds / 1_000));
    console.log({ seconds, longestMs });
    expect(longestMs).toBeLessThan(50);
    const epoch = await place.epoch.get();
    for (const id of ids.slice(0, 50)) {
      expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2 });
      expect(await place.table.inspectHold(epoch, id)).toMatchObject({
        entry: 2,
        status: 'granted',
        owner: null,
      });
    }
  } finally {
    redis.disconnect();
    await place.close();
    await server.stop();
  }
}, 600_000);

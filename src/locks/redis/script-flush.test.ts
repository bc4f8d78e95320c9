import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { sharedRedisUrl } from '../../../test/helpers/servers.js';
import { ada, hold, lane, TableInEpoch } from '../conformance/harness.conformance.js';
import { openRedis } from './open-redis.conformance.js';

test('scripts flushed at any moment of a load go unnoticed', async () => {
  const open = await openRedis({ url: sharedRedisUrl() });
  const current = await new TableInEpoch(open).begin();
  const flusher = new Redis(sharedRedisUrl());
  const done = new AbortController();
  let flushes = 0;
  const flushing = (async () => {
    while (!done.signal.aborted) {
      await flusher.script('FLUSH', 'ASYNC');
      flushes += 1;
    }
  })();
  const loads = Array.from({ length: 4 }, async (_, load) => {
    for (let round = 0; round < 50; round++) {
      const lane_ = `${lane}${load}`;
      const holds = Array.from({ length: 10 }, (_unused, n) =>
        hold(`t${load}.${round}.${n}`, { exclusive: [`r${load}`], shared: ['all'], lane: lane_ }),
      );
      await current.enter(...holds);
      for (const { task } of holds) {
        expect(await current.claimTasks(ada, 100, [lane_])).toEqual([task]);
        expect(await current.release(ada, task)).toEqual(['released']);
      }
    }
  });
  await Promise.all(loads);
  done.abort();
  await flushing;
  expect(flushes).toBeGreaterThan(50);
  await current.expectSound();
  flusher.disconnect();
  await open.close();
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../../test/helpers/redis-server.js';
import { costsBeside } from '../../test/recovery/cleanup-cost.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

test('cleaning up costs the same beside 100 and 50,000 locks of others, and scans nothing', async () => {
  const few = await costsBeside(100, server.url);
  const many = await costsBeside(50_000, server.url);
  expect(many.costs).toEqual(few.costs);
  for (const [path, commands] of Object.entries(many.costs)) {
    expect(Object.keys(commands).filter((name) => /^(?:scan|keys|dbsize)/.test(name))).toEqual([]);
    expect(commands['evalsha'], path).toBeGreaterThan(0);
  }
  // The counter sees what was done: 5 holds, each with one lock of its own.
  expect(many.costs['a missing worker']?.['del']).toBeGreaterThanOrEqual(5);
  expect(Object.values(many.costs['a new name'] ?? {}).reduce((sum, calls) => sum + calls, 0)).toBeLessThan(
    10,
  );
  // Control: it sees a scan, and that it grows.
  expect(few.scan['scan']).toBeGreaterThan(0);
  expect(many.scan['scan']).toBeGreaterThan(20 * (few.scan['scan'] ?? 0));
}, 60_000);

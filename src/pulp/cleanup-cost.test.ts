import { afterAll, beforeAll, expect, it } from 'vitest';
import { costOfScan, costsOfCleanUp } from '../../test/pulp/cleanup-cost.js';
import { TestPulp } from '../../test/pulp/test-pulp.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterAll(() => test.stop());

it('costs the same beside 100 and 50,000 locks of others, and scans nothing', async () => {
  await test.takesMany(100);
  const few = await costsOfCleanUp(test);
  const scanBesideFew = await costOfScan(test);
  await test.redis.flushall();
  await test.takesMany(50_000);
  const many = await costsOfCleanUp(test);
  const scanBesideMany = await costOfScan(test);

  expect(many).toEqual(few);
  for (const { commands, keys } of Object.values(many)) {
    expect(Object.keys(commands).filter((name) => /^(scan|keys|randomkey|dbsize)$/.test(name))).toEqual([]);
    expect(keys.filter((key) => key.includes('other'))).toEqual([]);
    // Both counters see what was done: of 5 locks, 3 are texts.
    expect(commands).toMatchObject({ evalsha: expect.any(Number) as unknown, del: 3, type: 5 });
    expect(keys).toEqual(expect.arrayContaining(['task:t1', 'pulp:owner_locks:dead', 'pulp:active_owners']));
  }
  // Control: the counter sees a scan, and that it grows.
  expect(scanBesideFew['scan']).toBeGreaterThan(0);
  expect(scanBesideMany['scan']).toBeGreaterThan(20 * (scanBesideFew['scan'] ?? 0));
}, 30_000);

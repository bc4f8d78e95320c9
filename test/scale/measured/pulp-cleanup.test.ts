import { afterAll, beforeAll, expect, test } from 'vitest';
import { costOfScan, costsOfCleanUp } from '../../pulp/cleanup-cost.js';
import { TestPulp } from '../../pulp/test-pulp.js';

let pulp: TestPulp;
beforeAll(async () => {
  pulp = await TestPulp.start();
});
afterAll(() => pulp.stop());

test("cleaning up after one owner of pulpcore's costs the same beside 100 and 1,000,000 locks of others", async () => {
  await pulp.takesMany(100);
  const few = await costsOfCleanUp(pulp);
  await pulp.redis.flushall();
  await pulp.takesMany(1_000_000);
  expect(await costsOfCleanUp(pulp)).toEqual(few);
  // Control: a scan is seen, and that it grows.
  const scan = await costOfScan(pulp);
  console.log('commands of a scan beside 1,000,000 locks:', scan);
  expect(scan['scan']).toBeGreaterThan(900);
}, 600_000);

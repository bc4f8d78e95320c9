import { expect, test } from 'vitest';
import { startRedis } from '../../helpers/redis-server.js';
import { costsBeside } from '../../recovery/cleanup-cost.js';

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

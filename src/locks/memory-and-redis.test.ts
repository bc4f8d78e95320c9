import { afterAll, beforeAll, test } from 'vitest';
import { startRedis, type RedisServer } from '../../test/helpers/redis-server.js';
import { checkTablesAgree, promotionLimitOfPairs } from './lock-table.property.js';
import { openMemory } from './memory/open-memory.conformance.js';
import { openRedis } from './redis/open-redis.conformance.js';

/** Of its own: dumps scan the whole server after every step. */
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

test('the table in Redis does what the executable specification does, step by step', async () => {
  await checkTablesAgree(
    async () => {
      const a = await openMemory({ promotionLimit: promotionLimitOfPairs });
      const b = await openRedis({ url: server.url, promotionLimit: promotionLimitOfPairs });
      return {
        a,
        b,
        close: async () => {
          await a.close();
          await b.close();
        },
      };
    },
    { runs: 60 },
  );
}, 120_000);

import { test } from 'vitest';
import { sharedRedisUrl } from '../../test/helpers/servers.js';
import { checkTablesAgree, promotionLimitOfPairs } from './lock-table.property.js';
import { openMemory } from './memory/open-memory.conformance.js';
import { openRedis } from './redis/open-redis.conformance.js';

test('the table in Redis does what the executable specification does, step by step', async () => {
  await checkTablesAgree(
    async () => {
      const a = await openMemory({ promotionLimit: promotionLimitOfPairs });
      const b = await openRedis({ url: sharedRedisUrl(), promotionLimit: promotionLimitOfPairs });
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

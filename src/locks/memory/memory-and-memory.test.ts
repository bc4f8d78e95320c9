import { test } from 'vitest';
import { checkTablesAgree, promotionLimitOfPairs } from '../lock-table.property.js';
import { openMemory } from './open-memory.conformance.js';

test('two in-memory tables agree after every step of any sequence, and are sound', async () => {
  await checkTablesAgree(
    async () => {
      const a = await openMemory({ promotionLimit: promotionLimitOfPairs });
      const b = await openMemory({ promotionLimit: promotionLimitOfPairs });
      return {
        a,
        b,
        close: async () => {
          await a.close();
          await b.close();
        },
      };
    },
    { runs: 100 },
  );
}, 120_000);

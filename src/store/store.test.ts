import { afterAll, describe } from 'vitest';
import { openPostgresStore, sharedPglite, type OpenStore } from '../../test/store/open-store.js';
import { claimsConformance } from './claims.conformance.js';
import { listingConformance } from './listing.conformance.js';
import { readingConformance } from './reading.conformance.js';

function storeConformance(open: () => Promise<OpenStore>): void {
  readingConformance(open);
  listingConformance(open);
  claimsConformance(open);
}

describe('the store on PostgreSQL', () => storeConformance(() => openPostgresStore()));

describe('the store on PGlite', () => {
  const pglite = sharedPglite();
  afterAll(() => pglite.close());
  storeConformance(() => pglite.open());
});

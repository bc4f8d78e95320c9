import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Database } from '../../src/store/database.js';
import { createPgliteDatabase } from '../../src/store/pglite-database.js';
import { fillPgliteFolder } from '../helpers/pglite-folder.js';
import { removeFolder } from '../helpers/server-process.js';
import { overriding } from '../worker/overriding.js';

/** PGlite in a folder that goes when it is closed, or else with this run. */
export async function openPglite(): Promise<Database> {
  const dataDir = join(inject('scratchFolder'), randomUUID());
  await fillPgliteFolder(dataDir);
  const database = await createPgliteDatabase({ dataDir });
  return overriding(database, {
    close: async () => {
      await database.close();
      removeFolder(dataDir);
    },
  });
}

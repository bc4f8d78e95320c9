import { join } from 'node:path';
import type { Database } from '../../src/store/database.js';
import { createPgliteDatabase } from '../../src/store/pglite-database.js';
import { fillPgliteFolder } from '../helpers/pglite-folder.js';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { overriding } from '../worker/overriding.js';

/** PGlite in a temporary folder, which goes when it is closed. */
export async function openPglite(): Promise<Database> {
  const folder = temporaryFolder('pglite');
  const dataDir = join(folder, 'pg');
  await fillPgliteFolder(dataDir);
  const database = await createPgliteDatabase({ dataDir });
  return overriding(database, {
    close: async () => {
      await database.close();
      removeFolder(folder);
    },
  });
}

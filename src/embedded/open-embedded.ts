import { join, resolve } from 'node:path';
import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { Database } from '../store/database.js';
import type { Store } from '../store/store.js';
import { createMemoryLockTable } from '../locks/memory/memory-lock-table.js';
import { openEpoch } from '../recovery/open-epoch.js';
import { settleAllWorkers } from '../recovery/settle-lost-tasks.js';
import { processIdentity } from '../worker/process-identity.js';
import { killChildrenOf } from '../worker/provably-dead.js';
import { lockDataFolder } from './data-folder-lock.js';

export interface EmbeddedPorts {
  dataDir: string;
  namespace: string;
  log: Logger;
  /** Opens PostgreSQL in this process on a folder of its own. */
  openStore(folder: string): Promise<OpenStore>;
}

export interface OpenStore {
  database: Database;
  store: Store;
}

/** Embedded data that is open: migrated, with a lock table in a new epoch. */
export interface Embedded extends OpenStore {
  table: LockTable;
  close(): Promise<void>;
}

/**
 * Opens embedded data: PostgreSQL and the lock table in this process. The lock of the folder proves that every
 * worker in the data is dead, so what they ran is settled at once; the table died with its process, so every
 * start is a new epoch. Throws DataDirLocked while another process has the folder.
 */
export async function openEmbedded({ dataDir, namespace, log, openStore }: EmbeddedPorts): Promise<Embedded> {
  const folder = resolve(dataDir);
  const lock = await lockDataFolder(folder);
  try {
    const { database, store } = await openStore(join(folder, 'pg'));
    const table = createMemoryLockTable({ namespace });
    try {
      await prepare(store, table, log);
    } catch (error) {
      await database.close();
      throw error;
    }
    const close = async (): Promise<void> => {
      await table.stop();
      // The folder last: nobody else may open the data while anything here can still write.
      await database.close();
      await lock.release();
    };
    return { database, store, table, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function prepare(store: Store, table: LockTable, log: Logger): Promise<void> {
  await store.migrate();
  await store.claimLockTable({ kind: table.kind, address: table.address });
  const here = processIdentity();
  await settleAllWorkers({ store, log }, async (worker) => {
    if (await killChildrenOf(worker, here)) return;
    const { name, incarnation } = worker;
    log.info({ worker: name, incarnation }, 'children of a dead worker are left to their watchdogs');
  });
  await openEpoch({ store, table, log }, 'always');
}

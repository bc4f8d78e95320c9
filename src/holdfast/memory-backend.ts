import type { Configuration } from '../configuration.js';
import type { Logger } from '../log.js';
import type { Database } from '../store/database.js';
import type { Store } from '../store/store.js';
import type { Backend, BackendTable } from './backend.js';
import { Unavailable } from '../errors.js';
import { createMemoryLockTable } from '../locks/memory/memory-lock-table.js';
import { createCurrentEpoch } from '../recovery/current-epoch.js';
import { findOrOpenEpoch } from '../recovery/open-epoch.js';
import { checkSchema } from './check-schema.js';
import { MemoryTableLock } from './memory-table-lock.js';
import { OpenOnce } from './open-once.js';

export type MemoryConfiguration = Extract<Configuration, { kind: 'memory' }>;

/**
 * PostgreSQL, and the lock table in this process. Only a process that uses the table takes the right to it: one
 * that dispatches or lists tasks beside it needs PostgreSQL alone. The table is empty when it is made, so the
 * first who asks for its epoch opens a new one.
 */
export function createMemoryBackend(
  { database: connection, namespace }: MemoryConfiguration,
  { database, store, log }: { database: Database; store: Store; log: Logger },
): Backend {
  const table = createMemoryLockTable({ namespace });
  const lock = new MemoryTableLock({ database: connection, namespace, log });
  const schema = new OpenOnce(async () => {
    await checkSchema(store);
    await store.checkLockTable({ kind: table.kind, address: table.address });
  });
  const findEpoch = async (): Promise<string> => {
    if (lock.held) return findOrOpenEpoch({ store, table, log });
    throw new Unavailable('The session that holds the lock of the in-memory table was lost.');
  };
  const opening = new OpenOnce(async (): Promise<BackendTable> => {
    await schema.get();
    await lock.take();
    await store.claimLockTable({ kind: table.kind, address: table.address });
    return { table, epoch: createCurrentEpoch(findEpoch) };
  });
  return {
    ...{ database, store },
    storeReady: () => schema.get(),
    openTable: () => opening.get(),
    get canWake() {
      return opening.opened !== null;
    },
    wakeAdmission: async () => opening.opened?.table.wakeAdmission(),
    announcingTable: async () => table,
    beater: { kind: 'postgres', connection, namespace },
    close: async () => {
      await opening.ended();
      await table.stop();
      await lock.release();
      await database.close();
    },
  };
}

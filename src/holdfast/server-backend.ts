import type { Configuration } from '../configuration.js';
import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { Database } from '../store/database.js';
import type { Store } from '../store/store.js';
import type { Backend, BackendTable } from './backend.js';
import { createRedisLockTable } from '../locks/redis/redis-lock-table.js';
import { createCurrentEpoch } from '../recovery/current-epoch.js';
import { findOrOpenEpoch } from '../recovery/open-epoch.js';
import { checkSchema } from './check-schema.js';
import { OpenOnce } from './open-once.js';

export type RedisConfiguration = Extract<Configuration, { kind: 'redis' }>;

/** PostgreSQL and Redis. Nothing connects before it is used. Throws NotConfigured for a malformed URL. */
export function createRedisBackend(
  { database: connection, redis, namespace }: RedisConfiguration,
  { database, store, log }: { database: Database; store: Store; log: Logger },
): Backend {
  const place = typeof redis === 'string' ? { url: redis } : { options: redis };
  const table: LockTable = createRedisLockTable({ ...place, namespace, log });
  const schema = new OpenOnce(async () => {
    await checkSchema(store);
    await store.checkLockTable({ kind: table.kind, address: table.address });
  });
  const opening = new OpenOnce(async (): Promise<BackendTable> => {
    await schema.get();
    await table.start();
    // Not before: a URL that leads nowhere must not become the one that all others are held to.
    await store.claimLockTable({ kind: table.kind, address: table.address });
    return { table, epoch: createCurrentEpoch(() => findOrOpenEpoch({ store, table, log })) };
  });
  return {
    ...{ database, store },
    storeReady: () => schema.get(),
    openTable: () => opening.get(),
    get canWake() {
      return opening.opened !== null;
    },
    wakeAdmission: async () => (await opening.get()).table.wakeAdmission(),
    announcingTable: async () => (await opening.get()).table,
    beater: { kind: 'postgres', connection, namespace },
    close: async () => {
      // An opening under way fails for want of them, whatever it waits for.
      await Promise.all([table.stop(), database.close()]);
      await opening.ended();
      await table.stop();
    },
  };
}

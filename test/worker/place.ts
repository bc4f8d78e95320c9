import type { LockTable } from '../../src/locks/lock-table.js';
import type { CurrentEpoch } from '../../src/recovery/current-epoch.js';
import type { Database } from '../../src/store/database.js';
import type { Store } from '../../src/store/store.js';
import type { Dispatcher, DispatchPorts } from '../../src/tasks/dispatch/dispatcher.js';
import type { TaskDefinition } from '../../src/tasks/definition.js';
import type { Beater } from '../../src/worker/heartbeat.js';
import type { LogLine } from './collecting-logger.js';
import type { Logger } from '../../src/log.js';
import { createMemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import { createRedisLockTable } from '../../src/locks/redis/redis-lock-table.js';
import { createCurrentEpoch } from '../../src/recovery/current-epoch.js';
import { findOrOpenEpoch } from '../../src/recovery/open-epoch.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { createStore } from '../../src/store/create-store.js';
import { createDispatcher } from '../../src/tasks/dispatch/dispatcher.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../helpers/servers.js';
import { borrowNamespace } from '../store/shared-pglite.js';
import { borrowServerNamespace } from '../store/shared-postgres.js';
import { collectingLogger } from './collecting-logger.js';

/** Both stores, migrated, with a namespace of its own. */
export interface Place {
  kind: 'servers' | 'embedded';
  namespace: string;
  database: Database;
  store: Store;
  table: LockTable;
  epoch: CurrentEpoch;
  /** What a test dispatches with; the definitions may be added later. */
  dispatcher: Dispatcher;
  /** What runs at once is run by; given by the tests of that. */
  runNow: DispatchPorts['runNow'];
  definitions: Map<string, TaskDefinition>;
  log: Logger;
  lines: LogLine[];
  beater: Beater;
  /** Ends what `onClose` was given, last one first, and then the stores. */
  close(): Promise<void>;
  onClose(end: () => Promise<void>): void;
}

export interface ServerUrls {
  redisUrl?: string;
  postgresUrl?: string;
}

/** On the shared Redis and PostgreSQL, or through whatever stands before them. */
export async function serverPlace(urls: ServerUrls = {}): Promise<Place> {
  const { namespace, giveBack } = await borrowServerNamespace();
  const postgresUrl = urls.postgresUrl ?? sharedPostgresUrl();
  const database = createPostgresDatabase({ connection: postgresUrl });
  const table = createRedisLockTable({ url: urls.redisUrl ?? sharedRedisUrl(), namespace });
  const place = await open('servers', namespace, database, table, {
    kind: 'postgres',
    connection: sharedPostgresUrl(),
    namespace,
  });
  place.onClose(giveBack);
  return place;
}

/** PGlite, one for all tests of a process, and the table in this process. */
export async function embeddedPlace(): Promise<Place> {
  const { database, namespace, giveBack } = await borrowNamespace();
  const table = createMemoryLockTable({ namespace });
  const place = await open('embedded', namespace, database, table, {
    kind: 'caller',
    beat: (incarnation) => place.store.beat(incarnation),
  });
  place.onClose(async () => giveBack());
  return place;
}

async function open(
  kind: Place['kind'],
  namespace: string,
  database: Database,
  table: LockTable,
  beater: Place['beater'],
): Promise<Place> {
  const store = createStore(database, namespace);
  await store.migrate();
  await table.start();
  const { log, lines } = collectingLogger();
  const definitions = new Map<string, TaskDefinition>();
  const ends: (() => Promise<void>)[] = [];
  const place: Place = {
    ...{ kind, namespace, database, store, table, definitions, log, lines, beater },
    epoch: createCurrentEpoch(() => findOrOpenEpoch({ store, table, log })),
    dispatcher: createDispatcher({
      connect: async () => ({ store, database, canWake: true }),
      wakeAdmission: () => table.wakeAdmission(),
      runNow: (prepared) => place.runNow(prepared),
      loaded: definitions,
    }),
    runNow: () => Promise.reject(new Error('Nothing runs at once here.')),
    onClose: (end) => void ends.push(end),
    close: async () => {
      const [leave, ...others] = ends;
      for (const end of others.toReversed()) await end();
      await place.dispatcher.idle();
      await table.stop();
      if (kind === 'servers') await database.close();
      await leave?.();
    },
  };
  return place;
}

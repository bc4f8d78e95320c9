import type { Database } from '../../src/store/database.js';
import type { Store } from '../../src/store/store.js';
import { createStore } from '../../src/store/create-store.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { borrowNamespace } from './shared-pglite.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../helpers/servers.js';
import { borrowServerNamespace } from './shared-postgres.js';

/** A migrated store in a namespace of its own, and the database below it. */
export interface OpenStore {
  database: Database;
  store: Store;
  namespace: string;
  close(): Promise<void>;
}

export async function openPostgresStore(url: string = sharedPostgresUrl()): Promise<OpenStore> {
  const database = createPostgresDatabase({ connection: url });
  const { namespace, giveBack } = await borrowServerNamespace();
  const opened = await open(database, namespace);
  return {
    ...opened,
    close: async () => {
      await database.close();
      await giveBack();
    },
  };
}

/** In a namespace that nobody has used before: for what depends on how the tables came to be as they are. */
export async function openFreshPostgresStore(): Promise<OpenStore> {
  const database = createPostgresDatabase({ connection: sharedPostgresUrl() });
  const namespace = uniqueNamespace();
  const opened = await open(database, namespace);
  return {
    ...opened,
    close: async () => {
      await database.close();
      await dropNamespace(namespace);
    },
  };
}

/** In a namespace that other tests may have used before. */
export async function openPgliteStore(): Promise<OpenStore> {
  const { database, namespace, giveBack } = await borrowNamespace();
  return { ...(await open(database, namespace)), close: async () => giveBack() };
}

async function open(database: Database, namespace: string): Promise<OpenStore> {
  const store = createStore(database, namespace);
  try {
    await store.migrate();
  } catch (error) {
    await database.close();
    throw error;
  }
  return { database, store, namespace, close: () => database.close() };
}

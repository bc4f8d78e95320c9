import type { Database } from '../../src/store/database.js';
import type { Store } from '../../src/store/store.js';
import { createStore } from '../../src/store/create-store.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../helpers/servers.js';
import { openPglite } from './open-pglite.js';

/** A migrated store in a namespace of its own, and the database below it. */
export interface OpenStore {
  database: Database;
  store: Store;
  namespace: string;
  close(): Promise<void>;
}

export async function openPostgresStore(url: string = sharedPostgresUrl()): Promise<OpenStore> {
  const database = createPostgresDatabase({ connection: url });
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

export interface SharedPglite {
  open(): Promise<OpenStore>;
  close(): Promise<void>;
}

/** One PGlite, with a namespace for each store that is opened in it. */
export function sharedPglite(): SharedPglite {
  let database: Promise<Database> | null = null;
  return {
    open: async () => {
      database ??= openPglite();
      return { ...(await open(await database, uniqueNamespace())), close: async () => {} };
    },
    close: async () => {
      await (await database)?.close();
    },
  };
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

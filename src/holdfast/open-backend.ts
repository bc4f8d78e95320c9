import type { Configuration } from '../configuration.js';
import type { Logger } from '../log.js';
import type { Backend } from './backend.js';
import { openEmbedded } from '../embedded/open-embedded.js';
import { createStore } from '../store/create-store.js';
import { createPgliteDatabase } from '../store/pglite-database.js';
import { createPostgresDatabase } from '../store/postgres-database.js';
import { createEmbeddedBackend } from './embedded-backend.js';
import { createMemoryBackend } from './memory-backend.js';
import { createRedisBackend } from './server-backend.js';

/** Embedded data is opened here; servers are connected when they are first used. */
export async function openBackend(configuration: Configuration, log: Logger): Promise<Backend> {
  const { namespace } = configuration;
  if (configuration.kind === 'embedded') {
    const openStore = async (dataDir: string): Promise<Pick<Backend, 'database' | 'store'>> => {
      const database = await createPgliteDatabase({ dataDir });
      return { database, store: createStore(database, namespace) };
    };
    return createEmbeddedBackend(await openEmbedded({ ...configuration, log, openStore }), log);
  }
  const database = createPostgresDatabase({ connection: configuration.database });
  const ports = { database, store: createStore(database, namespace), log };
  return configuration.kind === 'redis'
    ? createRedisBackend(configuration, ports)
    : createMemoryBackend(configuration, ports);
}

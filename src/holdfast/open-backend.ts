import type { Configuration } from '../configuration.js';
import type { Logger } from '../log.js';
import type { Backend } from './backend.js';
import { openEmbedded } from '../embedded/open-embedded.js';
import { createStore } from '../store/create-store.js';
import { createEmbeddedBackend } from './embedded-backend.js';

/**
 * Embedded data is opened here; servers are connected when they are first used. The clients of each are loaded only
 * where it is asked for: a child process that runs tasks needs none of them.
 */
export async function openBackend(configuration: Configuration, log: Logger): Promise<Backend> {
  const { namespace } = configuration;
  if (configuration.kind === 'embedded') {
    const { createPgliteDatabase } = await import('../store/pglite-database.js');
    const openStore = async (dataDir: string): Promise<Pick<Backend, 'database' | 'store'>> => {
      const database = await createPgliteDatabase({ dataDir });
      return { database, store: createStore(database, namespace) };
    };
    return createEmbeddedBackend(await openEmbedded({ ...configuration, log, openStore }), log);
  }
  const { createPostgresDatabase } = await import('../store/postgres-database.js');
  const database = createPostgresDatabase({ connection: configuration.database });
  const ports = { database, store: createStore(database, namespace), log };
  if (configuration.kind === 'redis') {
    const { createRedisBackend } = await import('./server-backend.js');
    return createRedisBackend(configuration, ports);
  }
  const { createMemoryBackend } = await import('./memory-backend.js');
  return createMemoryBackend(configuration, ports);
}

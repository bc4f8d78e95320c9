import type { TestProject } from 'vitest/node';
import { ensurePrograms } from './install-programs.js';
import { startPostgres } from './postgres-server.js';
import { startRedis } from './redis-server.js';
import { removeFolder, temporaryFolder } from './server-process.js';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
    postgresUrl: string;
    /** For files that may be left until the run is over. */
    scratchFolder: string;
  }
}

/** One Redis and one PostgreSQL for the whole run; tests keep apart by their namespaces. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  ensurePrograms();
  const redis = await startRedis();
  const postgres = await startPostgres().catch(async (error: unknown) => {
    await redis.stop();
    throw error;
  });
  project.provide('redisUrl', redis.url);
  project.provide('postgresUrl', postgres.url);
  const scratch = temporaryFolder('scratch');
  project.provide('scratchFolder', scratch);
  return async () => {
    await Promise.all([redis.stop(), postgres.stop()]);
    removeFolder(scratch);
  };
}

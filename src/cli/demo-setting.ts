import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { GlobalOptions } from './global-options.js';
import { NotConfigured } from '../errors.js';

/** Where a demo runs: on what, and in which folders. */
export interface DemoSetting {
  mode: 'embedded' | 'memory' | 'servers';
  /** Whether the workers are processes of their own. */
  workerProcesses: boolean;
  /** The embedded data; null on servers. */
  dataDir: string | null;
  /** Its own on servers, unless one is asked for: its tasks and resources must not meet those of an application. */
  namespace: string | undefined;
  mirror: string;
  /** Whether nothing of it is of use to anybody after the demo. */
  temporary: boolean;
  /** Removes the mirror, and the data as well where it is temporary. */
  remove(): Promise<void>;
}

const demoNamespace = 'holdfast_demo';
/** Apart from the other: an orphan is freed after the longest TTL that its namespace has seen, and here all are short. */
const crashNamespace = 'holdfast_demo_crash';

/**
 * Embedded unless URLs are given. Throws NotConfigured where one of the two is missing, or where there is nobody who
 * could outlive a crash.
 */
export async function demoSetting(
  global: GlobalOptions,
  environment: NodeJS.ProcessEnv,
  crash: boolean = false,
): Promise<DemoSetting> {
  const database = global.databaseUrl ?? environment['HOLDFAST_DATABASE_URL'];
  const redis = global.redisUrl ?? environment['HOLDFAST_REDIS_URL'];
  if (global.embedded === true || global.dataDir !== undefined || (isMissing(database) && isMissing(redis))) {
    return await embedded(
      global.dataDir ?? environment['HOLDFAST_DATA_DIR'],
      namespaceOf(global, environment),
    );
  }
  if (isMissing(database) || isMissing(redis)) {
    throw new NotConfigured(
      `The demo runs embedded, or on both servers: ${isMissing(redis) ? 'the Redis' : 'the database'} URL is missing.`,
    );
  }
  const mode = redis === 'memory:' ? 'memory' : 'servers';
  if (crash && mode === 'memory') {
    throw new NotConfigured(
      'demo --crash runs embedded, or on PostgreSQL and Redis: a lock table in memory has one process only.',
    );
  }
  const mirror = await temporaryFolder();
  return {
    mode,
    workerProcesses: mode === 'servers',
    dataDir: null,
    namespace: namespaceOf(global, environment) ?? (crash ? crashNamespace : demoNamespace),
    mirror,
    temporary: true,
    remove: async () => await remove(mirror),
  };
}

async function embedded(given: string | undefined, namespace: string | undefined): Promise<DemoSetting> {
  const setting = { mode: 'embedded', workerProcesses: false, namespace } as const;
  if (given !== undefined && given !== '') {
    const dataDir = resolve(given);
    const mirror = join(dataDir, 'mirror');
    return { ...setting, dataDir, mirror, temporary: false, remove: async () => await remove(mirror) };
  }
  const folder = await temporaryFolder();
  return {
    ...setting,
    dataDir: join(folder, 'data'),
    mirror: join(folder, 'mirror'),
    temporary: true,
    remove: async () => await remove(folder),
  };
}

/** Renamed first: a folder that was removed by half must not be taken for a mirror. */
async function remove(folder: string): Promise<void> {
  const removed = `${folder}.removed`;
  await rm(removed, { recursive: true, force: true });
  await rename(folder, removed);
  await rm(removed, { recursive: true, force: true });
}

async function temporaryFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
}

function namespaceOf(global: GlobalOptions, environment: NodeJS.ProcessEnv): string | undefined {
  return global.namespace ?? (environment['HOLDFAST_NAMESPACE'] || undefined);
}

function isMissing(url: string | undefined): url is undefined | '' {
  return url === undefined || url === '';
}

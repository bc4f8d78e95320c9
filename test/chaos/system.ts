import type { Stores, System } from './faults/fault-kind.js';
import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { Fleet } from './fleet.js';
import { processesWith, signal } from './processes.js';
import { ReplicatedPostgres } from './replicated-postgres.js';
import { SentinelRedis } from './sentinel.js';
import { Postgres, StandaloneRedis } from './servers.js';

export interface SystemOptions {
  stores: Stores;
  workers: number;
  ttlMs: number;
  build: string;
  recentTasks: (count: number) => string[];
  heard: (line: Record<string, unknown>) => void;
  /** Aborts when the run is given up. */
  signal: AbortSignal;
}

export interface RunningSystem extends System {
  folder: string;
  journalPath: string;
  /** In the environment of every process of the fleet. */
  mark: string;
  /** What was opened last goes first; nothing is left, whatever happened before. */
  close(keepFolder: boolean): Promise<void>;
}

const namespace = 'chaos';
const commandLimitMs = 180_000;

/** Both stores, migrated, and the fleet. */
export async function startSystem(options: SystemOptions): Promise<RunningSystem> {
  const closing: (() => Promise<unknown>)[] = [];
  const folder = temporaryFolder('chaos');
  const close = async (keepFolder: boolean): Promise<void> => {
    for (const end of closing.splice(0).toReversed()) await end().catch(() => {});
    if (!keepFolder) removeFolder(folder);
  };
  try {
    // PostgreSQL runs as another user.
    chmodSync(folder, 0o711);
    return { ...(await start(options, folder, closing)), close };
  } catch (error) {
    await close(false);
    throw error;
  }
}

async function start(
  { stores, workers, ttlMs, build, recentTasks, heard, signal: given }: SystemOptions,
  folder: string,
  closing: (() => Promise<unknown>)[],
): Promise<Omit<RunningSystem, 'close'>> {
  const postgres = await startPostgres(stores, folder);
  closing.push(() => postgres.stop());
  given.throwIfAborted();
  const redis = await startRedis(stores, folder);
  closing.push(() => redis.stop());
  given.throwIfAborted();
  const pool = new pg.Pool({ connectionString: postgres.url, max: 12, application_name: 'chaos' });
  pool.on('error', () => {});
  // One that breaks while it is lent out tells so itself.
  pool.on('connect', (client) => client.on('error', () => {}));
  closing.push(() => pool.end());
  const direct = redis.connect();
  closing.push(async () => direct.disconnect());
  const holdfast = commandLine(build, postgres.url, redis.url, given);
  await holdfast(['migrate']);
  given.throwIfAborted();
  const mark = folder.replaceAll('/', '-');
  const at = { namespace, folder, mark, build, ttlMs, workers };
  closing.push(async () => processesWith('CHAOS_MARK', mark).forEach((pid) => signal(pid, 'SIGKILL')));
  const urls = { postgresUrl: postgres.url, redisUrl: redis.url, redisPorts: redis.ports };
  const fleet = await Fleet.start({ ...at, ...urls, heard, signal: given });
  closing.push(() => fleet.abandon());
  const pause = async (ms: number): Promise<void> => {
    await delay(Math.max(ms, 0), undefined, { signal: given }).catch(() => {});
  };
  const journalPath = join(folder, 'journal');
  const connections = { pool, direct };
  return {
    namespace,
    ttlMs,
    fleet,
    postgres,
    redis,
    ...connections,
    recentTasks,
    holdfast,
    pause,
    folder,
    journalPath,
    mark,
  };
}

async function startPostgres({ postgres }: Stores, folder: string): Promise<System['postgres']> {
  return postgres === 'standby' ? ReplicatedPostgres.start(folder) : Postgres.start(folder);
}

async function startRedis({ redis }: Stores, folder: string): Promise<System['redis']> {
  return redis === 'sentinel' ? SentinelRedis.start() : StandaloneRedis.start(folder);
}

function commandLine(
  build: string,
  databaseUrl: string,
  redisUrl: string,
  given: AbortSignal,
): System['holdfast'] {
  const env = {
    ...process.env,
    HOLDFAST_DATABASE_URL: databaseUrl,
    HOLDFAST_REDIS_URL: redisUrl,
    HOLDFAST_NAMESPACE: namespace,
  };
  return async (args) => {
    const run = promisify(execFile)(process.execPath, [join(build, 'cli/main.js'), ...args], {
      env,
      signal: given,
      timeout: commandLimitMs,
      killSignal: 'SIGKILL',
    });
    // 1: some of what was asked for was refused.
    await run.catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 1) throw error;
    });
  };
}

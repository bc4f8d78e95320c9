import { NotConfigured } from '../errors.js';
import type { Logger } from '../log.js';
import { noRows, PulpDatabase, type PulpRows } from './pulp-database.js';
import { PulpRedis } from './pulp-redis.js';
import type { Mode } from './scripts.js';

/** A Pulp whose locks are looked at, or released. */
export interface Pulp {
  redis: PulpRedis;
  database: PulpRows;
  /** `look`: nothing is written anywhere, and what is said to be released would be. */
  mode: Mode;
}

export interface PulpOptions {
  redisUrl: string;
  /** Null to look at Redis alone. */
  databaseUrl: string | null;
  mode: Mode;
  log: Logger;
}

export interface OpenPulp extends Pulp {
  close(): Promise<void>;
}

/** Connects to the servers. Throws Unavailable where one cannot be reached, NotConfigured where it is not Pulp's. */
export async function openPulp({ redisUrl, databaseUrl, mode, log }: PulpOptions): Promise<OpenPulp> {
  if (redisUrl === 'memory:') throw new NotConfigured("Give the URL of Pulp's Redis, as in its REDIS_URL.");
  const redis = new PulpRedis(redisUrl, log);
  const database = databaseUrl === null ? noRows : new PulpDatabase(databaseUrl);
  const close = async (): Promise<void> => {
    redis.close();
    await database.close();
  };
  try {
    await redis.connect();
    if (database.known) await database.processes('');
  } catch (error) {
    await close();
    throw error;
  }
  return { redis, database, mode, close };
}

import { NotConfigured } from '../errors.js';
import type { Logger } from '../log.js';
import { PulpDatabase } from './pulp-database.js';
import { PulpRedis } from './pulp-redis.js';
import type { Mode } from './scripts.js';

/** A Pulp whose locks are looked at, or released. */
export interface Pulp {
  redis: PulpRedis;
  database: PulpDatabase;
  /** `look`: nothing is written anywhere, and what is said to be released would be. */
  mode: Mode;
}

export interface PulpOptions {
  redisUrl: string;
  databaseUrl: string;
  mode: Mode;
  log: Logger;
}

export interface OpenPulp extends Pulp {
  close(): Promise<void>;
}

/** Connects to both servers. Throws Unavailable where one cannot be reached, NotConfigured where it is not Pulp's. */
export async function openPulp({ redisUrl, databaseUrl, mode, log }: PulpOptions): Promise<OpenPulp> {
  if (redisUrl === 'memory:') throw new NotConfigured("Give the URL of Pulp's Redis, as in its REDIS_URL.");
  const redis = new PulpRedis(redisUrl, log);
  const database = new PulpDatabase(databaseUrl);
  const close = async (): Promise<void> => {
    redis.close();
    await database.close();
  };
  try {
    await redis.connect();
    await database.processes('');
  } catch (error) {
    await close();
    throw error;
  }
  return { redis, database, mode, close };
}

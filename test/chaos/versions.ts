import type { Redis } from 'ioredis';
import type pg from 'pg';
import { availableParallelism } from 'node:os';

export interface Versions {
  node: string;
  redis: string;
  postgres: string;
  cores: number;
}

/** On what a run was made. */
export async function versionsOf({ pool, direct }: { pool: pg.Pool; direct: Redis }): Promise<Versions> {
  const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');
  const redis = /^redis_version:(\S+)/m.exec(await direct.info('server'))?.[1] ?? 'unknown';
  const postgres = rows[0]!.server_version.split(' ')[0]!;
  return { node: process.version, redis, postgres, cores: availableParallelism() };
}

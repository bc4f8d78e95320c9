import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { inject } from 'vitest';

/** The Redis of this run. */
export function sharedRedisUrl(): string {
  return inject('redisUrl');
}

/** The PostgreSQL of this run, as its superuser. */
export function sharedPostgresUrl(): string {
  return inject('postgresUrl');
}

/** A namespace that no other test uses. */
export function uniqueNamespace(): string {
  return `t_${randomBytes(6).toString('hex')}`;
}

/** Removes what a test's namespace left on the shared servers: its schema and its keys. */
export async function dropNamespace(namespace: string): Promise<void> {
  await Promise.all([dropSchema(sharedPostgresUrl(), namespace), dropKeys(namespace)]);
}

/** Removes the keys of a test's namespace from the shared Redis. */
export async function dropKeys(namespace: string): Promise<void> {
  const redis = new Redis(sharedRedisUrl());
  try {
    for await (const keys of redis.scanStream({ match: `{${namespace}}:*`, count: 1_000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
    }
  } finally {
    redis.disconnect();
  }
}

async function dropSchema(url: string, namespace: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA IF EXISTS "${namespace}" CASCADE`);
  } finally {
    await client.end();
  }
}

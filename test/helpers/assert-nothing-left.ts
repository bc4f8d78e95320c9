import { Redis } from 'ioredis';
import pg from 'pg';

export interface Place {
  redisUrl: string;
  databaseUrl: string;
  namespace: string;
}

/** What an empty table keeps: see src/locks/README.md, "Keys". */
const constantKeys = new Set(['pass', 'order', 'fence', 'lanes_version', 'active_owners']);

/**
 * Throws, naming what is left, unless every task is final and the open epoch holds no hold, wait, lock, queue, lane,
 * wake-up, mark or registry. Older epochs are left out: their keys are unlinked in the background.
 */
export async function assertNothingLeft(place: Place): Promise<void> {
  const [tasks, keys] = await Promise.all([unsettledTasks(place), keysLeft(place)]);
  const left = [...tasks, ...keys];
  if (left.length === 0) return;
  const shown = left.slice(0, 20).join('\n');
  throw new Error(`${left.length} things are left in namespace ${place.namespace}:\n${shown}`);
}

async function unsettledTasks({ databaseUrl, namespace }: Place): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; name: string; state: string }>(
      `SELECT id, name, state FROM "${namespace}".tasks
       WHERE state NOT IN ('completed', 'failed', 'canceled') ORDER BY place LIMIT 1000`,
    );
    return rows.map(({ id, name, state }) => `task ${id} (${name}) is ${state}`);
  } finally {
    await client.end();
  }
}

async function keysLeft({ redisUrl, namespace }: Place): Promise<string[]> {
  const redis = new Redis(redisUrl);
  try {
    const epoch = await redis.hget(`{${namespace}}:epoch`, 'number');
    if (epoch === null) return [];
    const prefix = `{${namespace}}:${epoch}:`;
    const left: string[] = [];
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      left.push(...(keys as string[]).filter((key) => !constantKeys.has(key.slice(prefix.length))));
    }
    return left.map((key) => `key ${key}`);
  } finally {
    redis.disconnect();
  }
}

import { Redis } from 'ioredis';
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { createHoldfast } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../helpers/postgres-server.js';
import { type RedisServer, startRedis } from '../../helpers/redis-server.js';
import { startWorkerFleet } from '../worker-fleet.js';

const workers = 50;
const seconds = 15;

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([
    startRedis(),
    startPostgres({ settings: { shared_preload_libraries: 'pg_stat_statements' } }),
  ]);
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

test('50 idle workers send at most 2 commands a second each to Redis and 1 query a second each to PostgreSQL', async () => {
  const urls = { database: postgres.url, redis: redis.url };
  await (await createHoldfast({ ...urls, migrate: true })).close();
  const env = { HOLDFAST_DATABASE_URL: urls.database, HOLDFAST_REDIS_URL: urls.redis };
  const fleet = startWorkerFleet(env, 5, workers / 5);
  const client = new pg.Client({ connectionString: postgres.url });
  const monitor = new Redis(redis.url);
  try {
    await fleet.ready;
    await client.connect();
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const commandsBefore = await commandsSent(monitor);
    await client.query('SELECT pg_stat_statements_reset()');

    // What is measured is a rate, so time must pass.
    await delay(seconds * 1_000);

    const commands = (await commandsSent(monitor)) - commandsBefore;
    const { rows } = await client.query<{ calls: string }>(
      "SELECT sum(calls) AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'",
    );
    const perWorker = (count: number): number => count / workers / seconds;
    console.log('a second and worker:', {
      redisCommands: perWorker(commands),
      queries: perWorker(Number(rows[0]?.calls)),
    });
    // Control: the counters see a fleet that beats and polls.
    expect(perWorker(commands)).toBeGreaterThan(0.1);
    expect(perWorker(Number(rows[0]?.calls))).toBeGreaterThan(0.1);
    expect(perWorker(commands)).toBeLessThanOrEqual(2);
    expect(perWorker(Number(rows[0]?.calls))).toBeLessThanOrEqual(1);
  } finally {
    monitor.disconnect();
    await client.end();
    expect(await fleet.stop()).toEqual([0, 0, 0, 0, 0]);
  }
}, 120_000);

/** What clients sent: each script once, not the commands inside it. */
async function commandsSent(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  let calls = 0;
  for (const [, command, count] of stats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)) {
    if (sentByClients.has(command ?? '')) calls += Number(count);
  }
  return calls;
}

const sentByClients = new Set(['evalsha', 'eval', 'blpop', 'publish', 'ping', 'lpush', 'rpush', 'subscribe']);

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createHoldfast } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assertNothingLeft } from '../../helpers/assert-nothing-left.js';
import { type PostgresServer, startPostgres } from '../../helpers/postgres-server.js';
import { type RedisServer, startRedis } from '../../helpers/redis-server.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { startWorkerFleet } from '../worker-fleet.js';

const workers = 200;
const tasks = 5_000;

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([
    startRedis(),
    startPostgres({ settings: { max_connections: '1000' } }),
  ]);
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

test('200 workers started at once on 5,000 waiting tasks miss no beat', async () => {
  const urls = { database: postgres.url, redis: redis.url };
  const hf = await createHoldfast({ ...urls, migrate: true });
  await hf.dispatchMany(
    Array.from({ length: tasks }, (_, number) => ({
      name: 'journal.work',
      payload: {},
      exclusive: [`resource:${number % 500}`],
    })),
  );
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const env = { HOLDFAST_DATABASE_URL: urls.database, HOLDFAST_REDIS_URL: urls.redis };
  const started = performance.now();
  const fleet = startWorkerFleet(env, 8, workers / 8);
  try {
    // A beat that is missed shows as a counter that lags: a worker of age t has beaten floor(t / (TTL / 3)) times.
    let worstLag = 0;
    let seen = 0;
    await waitUntil(
      async () => {
        const { rows } = await client.query<{ lag: number; workers: number; left: number }>(beatsQuery);
        const [row] = rows;
        worstLag = Math.max(worstLag, row?.lag ?? 0);
        if (row !== undefined && row.workers > seen) seen = row.workers;
        // Often enough for a lag of seconds; the measuring must not be a load of its own.
        await delay(250);
        return seen === workers && row?.left === 0;
      },
      'all tasks completed and all workers registered',
      240_000,
    );
    const seconds = Math.round((performance.now() - started) / 1_000);
    await fleet.ready;
    console.log({ worstLagSeconds: worstLag, seconds });
    expect(worstLag).toBeLessThan(10);
  } finally {
    await client.end();
    expect(await fleet.stop()).toEqual(Array.from({ length: 8 }, () => 0));
    await hf.close();
  }
  await assertNothingLeft({ redisUrl: urls.redis, databaseUrl: urls.database, namespace: 'holdfast' });
}, 400_000);

/** With a TTL of 15 s a beat is due every 5 s; at 10 s since the last one, one was missed. */
const beatsQuery = `
  SELECT coalesce(max(extract(epoch FROM now() - last_heartbeat)), 0)::float8 AS lag,
         count(*)::int AS workers,
         (SELECT count(*)::int FROM holdfast.tasks WHERE state <> 'completed') AS left
  FROM holdfast.workers`;

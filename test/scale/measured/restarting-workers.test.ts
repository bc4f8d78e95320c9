import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createHoldfast } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assertNothingLeft } from '../../helpers/assert-nothing-left.js';
import { type PostgresServer, startPostgres } from '../../helpers/postgres-server.js';
import { type RedisServer, startRedis } from '../../helpers/redis-server.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { startWorkerFleet } from '../worker-fleet.js';

const workers = 150;
const processes = 5;
const resourcesEach = 5;
const otherHolders = 100;
const otherLocksEach = 1_000;

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([
    startRedis(),
    startPostgres({
      settings: { max_connections: '1000', shared_preload_libraries: 'pg_stat_statements' },
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

test('150 workers that were killed and restart at once beside 100,000 locks take Redis less than a second', async () => {
  const urls = { database: postgres.url, redis: redis.url };
  const hf = await createHoldfast({ ...urls, migrate: true });
  const until = join(tmpdir(), `restarting-${process.pid}`);
  writeFileSync(until, '');
  const client = new pg.Client({ connectionString: postgres.url });
  const monitor = new Redis(redis.url);
  const env = { HOLDFAST_DATABASE_URL: urls.database, HOLDFAST_REDIS_URL: urls.redis };
  let fleet = startWorkerFleet(env, processes, workers / processes);
  try {
    await client.connect();
    await client.query('CREATE EXTENSION pg_stat_statements');
    const others = Array.from({ length: otherHolders }, (_, holder) =>
      hf.locks.acquire({ exclusive: names(`other:${holder}`, otherLocksEach) }, { wait: 0 }),
    );
    const held = await Promise.all(others);
    const before = await client.query<{ incarnation: string }>('SELECT incarnation FROM holdfast.workers');
    await hf.dispatchMany(
      Array.from({ length: 2 * workers }, (_, task) => ({
        name: 'journal.hold',
        payload: { until },
        exclusive: names(`task:${task}`, resourcesEach),
      })),
    );
    await fleet.ready;
    await waitUntil(async () => (await running(client)) === 2 * workers, 'every slot runs a task', 60_000);
    await fleet.kill();

    await monitor.config('RESETSTAT');
    await client.query('SELECT pg_stat_statements_reset()');
    const restarted = performance.now();
    fleet = startWorkerFleet(env, processes, workers / processes);
    await fleet.ready;
    await waitUntil(
      async () =>
        (await running(client)) === 0 && (await registered(client)) === workers + before.rows.length,
      'the predecessors are cleaned up',
      60_000,
    );
    const seconds = (performance.now() - restarted) / 1_000;
    const redisSeconds = await secondsOfRedis(monitor);
    const { rows } = await client.query<{ ms: number; calls: string }>(
      'SELECT sum(total_exec_time) AS ms, sum(calls) AS calls FROM pg_stat_statements',
    );
    console.log({ seconds, redisSeconds, postgres: rows[0] });
    // Control: what 150 start-ups and 300 releases cost is seen.
    expect(redisSeconds).toBeGreaterThan(0.01);
    expect(redisSeconds).toBeLessThan(1);
    await Promise.all(held.map((lock) => lock.release()));
  } finally {
    if (existsSync(until)) rmSync(until);
    await fleet.stop();
    monitor.disconnect();
    await client.end();
    await hf.close();
  }
  await assertNothingLeft({ redisUrl: urls.redis, databaseUrl: urls.database, namespace: 'holdfast' });
}, 400_000);

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}:${n}`);
}

async function running(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM holdfast.tasks WHERE state = 'running' AND name = 'journal.hold'",
  );
  return rows[0]?.count ?? 0;
}

async function registered(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM holdfast.workers',
  );
  return rows[0]?.count ?? 0;
}

/** By all commands, each script once: those that wait block nobody, and take no time by this count. */
async function secondsOfRedis(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  const scripts = [...stats.matchAll(/^cmdstat_(evalsha|eval|fcall):calls=\d+,usec=(\d+)/gm)];
  return scripts.reduce((sum, [, , usec]) => sum + Number(usec), 0) / 1_000_000;
}

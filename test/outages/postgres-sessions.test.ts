import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPgBouncer } from '../helpers/pgbouncer.js';
import { startPostgres } from '../helpers/postgres-server.js';
import { startRedis } from '../helpers/redis-server.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace } from './helpers/outage-place.js';

/** Sessions of the workers, by what they are about. */
const kinds = {
  heartbeat: `application_name = 'holdfast heartbeat'`,
  listening: `query LIKE 'LISTEN%'`,
  idle: `application_name = 'holdfast' AND state = 'idle' AND query NOT LIKE 'LISTEN%'`,
  active: `application_name = 'holdfast' AND state = 'active'`,
  'in a transaction, as who admits': `application_name = 'holdfast' AND state LIKE 'idle in transaction%'`,
  'with the lock of an epoch, as who builds one': `application_name = 'holdfast' AND pid IN
    (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted)`,
} as const;
type Kind = keyof typeof kinds;

async function keepDispatching(place: OutagePlace, signal: AbortSignal): Promise<number> {
  let dispatched = 0;
  while (!signal.aborted) {
    await place.hf.dispatchMany(
      Array.from({ length: 10 }, (_, n) => ({ name: 'work', payload: { ms: 5 }, exclusive: [`r${n % 4}`] })),
    );
    dispatched += 10;
    await delay(40);
  }
  return dispatched;
}

test('each kind of session ended in turn, under load: the workers live on, and everything is done', async (context) => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  context.onTestFinished(async () => void (await Promise.all([postgres.stop(), redis.stop()])));
  const place = await outagePlace(context, { direct: { database: postgres.url, redis: redis.url } });
  const workers = await Promise.all(
    ['a', 'b', 'c'].map((name) => place.worker(['--name', name, '--ttl', '6s'])),
  );
  const ending = new AbortController();
  const dispatching = keepDispatching(place, ending.signal);
  const control = new pg.Client({ connectionString: postgres.url, application_name: 'control' });
  await control.connect();
  const flusher = new Redis(redis.url);
  const ended: Record<string, number> = {};
  for (const kind of Object.keys(kinds) as Kind[]) {
    const endOne = async (): Promise<boolean> => {
      if (kind.startsWith('with the lock')) await flusher.flushall();
      const { rowCount } = await control.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ${kinds[kind]}
         ORDER BY random() LIMIT 2`,
      );
      ended[kind] = (ended[kind] ?? 0) + (rowCount ?? 0);
      return ended[kind] >= 4;
    };
    // Some are there for a moment only.
    await waitUntil(endOne, `sessions "${kind}" are ended`, 30_000);
  }
  console.log('sessions that were ended:', ended);
  await control.end();
  flusher.disconnect();
  ending.abort();
  const dispatched = await dispatching;
  const canary = await place.hf.dispatch('work', {});
  await place.hf.wait(canary.id, { timeout: '20s' });
  for (const { child, stderr } of workers) {
    expect(child.exitCode).toBeNull();
    expect(stderr).not.toMatch(/[Uu]nhandled|uncaught|fenced/);
  }
  await place.end();
  expect(await place.states()).toEqual({ completed: dispatched + 1 });
});

test('no connection is to be had: what runs goes on, and the rest is done when there is one again', async (context) => {
  const postgres = await startPostgres({ settings: { max_connections: '25' } });
  context.onTestFinished(() => postgres.stop());
  const place = await outagePlace(context, { direct: { database: postgres.url } });
  const worker = await place.worker(['--ttl', '6s']);
  const { id } = await place.hf.dispatch('holds', { until: place.gate });
  await waitUntil(async () => (await place.hf.tasks.get(id)).progress.length > 0, 'it runs', 20_000);
  const hogs: pg.Client[] = [];
  const hog = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on('error', () => {});
    await client.connect();
    return hogs.push(client) > 25;
  };
  // Until none is left, also of those for superusers.
  while (!(await hog().catch(() => true)));
  // Those that the worker has would do; it gets none for what it has lost.
  await hogs[0]?.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND pid <> pg_backend_pid()`,
  );
  while (!(await hog().catch(() => true)));
  const dispatched = place.hf.dispatch('work', {}).catch((error: unknown) => error);
  await delay(2_000);
  await Promise.all(hogs.map((client) => client.end()));
  await dispatched;
  const canary = await place.hf.dispatch('work', {});
  await place.hf.wait(canary.id, { timeout: '20s' });
  expect(worker.child.exitCode).toBeNull();
  place.openGate();
  await place.end();
  expect(await place.hf.tasks.get(id)).toMatchObject({ state: 'completed', entry: 1 });
});

test('through PgBouncer in transaction mode, whose server sessions end under load', async (context) => {
  const postgres = await startPostgres();
  const bouncer = await startPgBouncer(postgres.url);
  context.onTestFinished(async () => {
    await bouncer.stop();
    await postgres.stop();
  });
  const place = await outagePlace(context, { direct: { database: postgres.url } });
  const through = { HOLDFAST_DATABASE_URL: bouncer.url };
  const workers = await Promise.all(
    ['a', 'b'].map((name) => place.worker(['--name', name, '--ttl', '6s'], through)),
  );
  const ending = new AbortController();
  const dispatching = keepDispatching(place, ending.signal);
  for (let round = 0; round < 10; round++) {
    await delay(300);
    await place.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name LIKE 'holdfast%' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 3`,
    );
  }
  ending.abort();
  const dispatched = await dispatching;
  await place.end();
  expect(await place.states()).toEqual({ completed: dispatched });
  for (const { stderr } of workers) expect(stderr).not.toMatch(/[Uu]nhandled|uncaught|fenced/);
});

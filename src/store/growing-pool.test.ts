import type { PoolClient } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import type { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { startProxy } from '../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { GrowingPool } from './growing-pool.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The proxy counts the connections that the pool has, also those that PostgreSQL has not yet accepted. */
async function poolOf(
  max: number,
  leastPatienceMs?: number,
): Promise<{ pool: GrowingPool; proxy: TcpProxy }> {
  const proxy = await startProxy(sharedPostgresUrl());
  const pool = new GrowingPool({
    ...{ connectionString: proxy.url, max, connectionTimeoutMillis: 5_000 },
    ...(leastPatienceMs === undefined ? {} : { leastPatienceMs }),
  });
  closing.push(
    () => proxy.stop(),
    () => pool.end(),
  );
  return { pool, proxy };
}

async function sleepInServer(pool: GrowingPool, ms: number): Promise<void> {
  const client = await pool.connect();
  // A call that is lost rejects; this only keeps the event from being thrown.
  const ignore = (): void => {};
  client.on('error', ignore);
  try {
    await client.query('SELECT pg_sleep($1)', [ms / 1_000]);
    client.off('error', ignore);
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

const times = (count: number, work: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, work));

test('calls that nobody waits for long share one connection', async () => {
  const { pool, proxy } = await poolOf(5, 30_000);
  await times(20, () => sleepInServer(pool, 0));
  expect(proxy.connections).toBe(1);
});

test('who has waited for a while gets another connection, up to the most there may be', async () => {
  const { pool, proxy } = await poolOf(3);
  const held = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  expect(proxy.connections).toBe(3);
  const fourth = pool.connect();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(proxy.connections).toBe(3);
  for (const client of held) client.release();
  (await fourth).release();
});

test('one connection is made at a time, however many are awaited', async () => {
  const { pool, proxy } = await poolOf(5);
  proxy.silence();
  const calls = times(5, () => sleepInServer(pool, 0));
  await waitUntil(() => proxy.connections > 0, 'the first is being made');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(proxy.connections).toBe(1);
  proxy.heal();
  await calls;
});

test('when no connection comes about, all who wait are told in time, and later ones are served', async () => {
  const { pool, proxy } = await poolOf(5);
  proxy.silence();
  const started = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => sleepInServer(pool, 0)));
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
  expect(performance.now() - started).toBeLessThan(10_000);
  proxy.heal();
  await times(5, () => sleepInServer(pool, 0));
});

test('lost connections are made again, one at a time', async () => {
  const { pool, proxy } = await poolOf(3);
  const threeClients = (): Promise<PoolClient[]> =>
    Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  const lost = await threeClients();
  for (const client of lost) client.on('error', () => {});
  proxy.reset();
  await waitUntil(() => proxy.connections === 0, 'all three are gone');
  for (const client of lost) client.release(true);
  await sleepInServer(pool, 0);
  expect(proxy.connections).toBe(1);
  for (const client of await threeClients()) client.release();
  expect(proxy.connections).toBe(3);
});

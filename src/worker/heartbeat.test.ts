import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test as plainTest } from 'vitest';
import { startPgBouncer } from '../../test/helpers/pgbouncer.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import type { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { startProxy } from '../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import type { WorkerRow, WorkerRows } from '../../test/helpers/worker-row.js';
import { createWorkerRows } from '../../test/helpers/worker-row.js';
import type { Heartbeat, HeartbeatOptions } from './heartbeat.js';
import { createHeartbeat } from './heartbeat.js';

const ttlMs = 3_000;
let rows: WorkerRows;

beforeAll(async () => {
  rows = await createWorkerRows();
});

afterAll(() => rows.drop());

interface Fixtures {
  row: WorkerRow;
  proxy: TcpProxy;
  heartbeatOf: (options?: Partial<HeartbeatOptions>, url?: string) => Heartbeat;
}

const test = plainTest.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- what vitest wants of a fixture without others
  row: async ({}, use) => use(await rows.register(ttlMs)),
  // oxlint-disable-next-line no-empty-pattern -- what vitest wants of a fixture without others
  proxy: async ({}, use) => {
    const proxy = await startProxy(sharedPostgresUrl());
    await use(proxy);
    await proxy.stop();
  },
  heartbeatOf: async ({ row, proxy }, use) => {
    const running: Heartbeat[] = [];
    const { namespace } = row;
    await use((options = {}, url = proxy.url) => {
      const beater = { kind: 'postgres', connection: url, namespace } as const;
      const heartbeat = createHeartbeat({ ttlMs, beater, ...options });
      running.push(heartbeat);
      return heartbeat;
    });
    await Promise.all(running.map((heartbeat) => heartbeat.stop()));
  },
});

function spin(ms: number): void {
  const started = performance.now();
  while (performance.now() - started < ms);
}

/** Milliseconds from the last confirmed beat that this thread heard of to the fence. */
function fenceDelay(heartbeat: Heartbeat): Promise<number> {
  let lastBeat = performance.now();
  heartbeat.onBeat(() => {
    lastBeat = performance.now();
  });
  return new Promise((resolve) => {
    heartbeat.fenced.addEventListener('abort', () => resolve(performance.now() - lastBeat));
  });
}

describe.concurrent('a heartbeat', () => {
  test('lets children connect once it is prepared, and does not beat before it starts', async ({
    row,
    heartbeatOf,
  }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.prepare();
    const child = connect({ path: heartbeat.watchdogAddress });
    await once(child, 'connect');
    child.destroy();
    expect(await row.counter()).toBe(0);
    expect(heartbeat.mayAct()).toBe(false);
    await heartbeat.start(row.incarnation);
    expect(await row.counter()).toBe(1);
  });

  test('is connected once it is prepared, so that its first beat is one round trip', async ({
    row,
    proxy,
    heartbeatOf,
  }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.prepare();
    proxy.latency(200);
    const started = performance.now();
    await heartbeat.start(row.incarnation);
    // Connecting alone takes two round trips, each of 400 ms.
    expect(performance.now() - started).toBeLessThan(1_200);
  });

  test('prepares while PostgreSQL is away, and connects at its first beat', async ({
    row,
    proxy,
    heartbeatOf,
  }) => {
    const errors: unknown[] = [];
    const heartbeat = heartbeatOf({ onError: (error) => errors.push(error) });
    proxy.silence();
    const prepared = heartbeat.prepare();
    await waitUntil(() => proxy.connections > 0, 'it connects');
    proxy.reset();
    await prepared;
    expect(errors).toHaveLength(1);
    proxy.heal();
    await heartbeat.start(row.incarnation);
    expect(heartbeat.mayAct()).toBe(true);
  });

  test('has beaten once when it has started, and goes on', async ({ row, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    expect(heartbeat.mayAct()).toBe(false);
    await heartbeat.start(row.incarnation);
    expect(heartbeat.mayAct()).toBe(true);
    expect(await row.counter()).toBe(1);
    await waitUntil(async () => (await row.counter()) >= 4, 'it has beaten four times');
  });

  test('fences at once when a beat changes no row', async ({ row, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    await row.reap();
    const reaped = performance.now();
    await waitUntil(() => heartbeat.fenced.aborted, 'it is fenced');
    expect(performance.now() - reaped).toBeLessThan(ttlMs / 3 + 250);
    expect(heartbeat.fenced.reason).toMatchObject({
      code: 'Fenced',
      message: expect.stringContaining('declared dead'),
    });
    expect(heartbeat.mayAct()).toBe(false);
  });

  test('fences before its TTL is over when PostgreSQL falls silent', async ({ row, proxy, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    const fenced = fenceDelay(heartbeat);
    proxy.silence();
    // The last beat was confirmed no later than this thread heard of it.
    expect(await fenced).toBeLessThan(ttlMs - 100);
    expect(heartbeat.fenced.reason).toMatchObject({
      code: 'Fenced',
      message: expect.stringContaining('in time'),
    });
  });

  test('does not take a beat without a reply for confirmed', async ({ row, proxy, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    const before = await row.counter();
    const fenced = fenceDelay(heartbeat);
    proxy.silence('replies');
    expect(await fenced).toBeLessThan(ttlMs);
    expect(await row.counter()).toBeGreaterThan(before);
  });

  test('stays fenced when PostgreSQL comes back', async ({ row, proxy, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    proxy.silence();
    await waitUntil(() => heartbeat.fenced.aborted, 'it is fenced');
    const counter = await row.counter();
    proxy.heal();
    await new Promise((resolve) => setTimeout(resolve, ttlMs / 2));
    expect(heartbeat.mayAct()).toBe(false);
    expect(await row.counter()).toBeLessThanOrEqual(counter + 1);
  });

  test('connects anew after its connection was reset, and tells the errors', async ({
    row,
    proxy,
    heartbeatOf,
  }) => {
    const errors: unknown[] = [];
    const heartbeat = heartbeatOf({ onError: (error) => errors.push(error) });
    await heartbeat.start(row.incarnation);
    for (let resets = 1; resets <= 3; resets += 1) {
      const before = await row.counter();
      proxy.reset();
      await waitUntil(async () => (await row.counter()) >= before + 2, 'it beats again');
      expect(errors.length).toBeGreaterThanOrEqual(resets);
    }
    expect(heartbeat.mayAct()).toBe(true);
  });

  test('survives a silence that is shorter than its deadline', async ({ row, proxy, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    proxy.silence();
    await new Promise((resolve) => setTimeout(resolve, ttlMs / 2));
    proxy.heal();
    const before = await row.counter();
    await waitUntil(async () => (await row.counter()) >= before + 3, 'it beats again');
    expect(heartbeat.mayAct()).toBe(true);
  });

  test('does not start for a worker that was reaped', async ({ row, heartbeatOf }) => {
    await row.reap();
    await expect(heartbeatOf().start(row.incarnation)).rejects.toMatchObject({ code: 'Fenced' });
  });

  test('does not start when PostgreSQL is silent, and says so', async ({ row, proxy, heartbeatOf }) => {
    proxy.silence();
    const started = performance.now();
    await expect(heartbeatOf().start(row.incarnation)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test('stops within a bounded time while PostgreSQL is silent, more than once', async ({
    row,
    proxy,
    heartbeatOf,
  }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    proxy.silence();
    await new Promise((resolve) => setTimeout(resolve, ttlMs / 2));
    const asked = performance.now();
    await Promise.all([heartbeat.stop(), heartbeat.stop()]);
    await heartbeat.stop();
    expect(performance.now() - asked).toBeLessThan(2_500);
    expect(heartbeat.mayAct()).toBe(false);
    expect(heartbeat.fenced.aborted).toBe(false);
  });

  test('beats no more once it is stopped', async ({ row, heartbeatOf }) => {
    const heartbeat = heartbeatOf();
    await heartbeat.start(row.incarnation);
    await heartbeat.stop();
    const counter = await row.counter();
    await new Promise((resolve) => setTimeout(resolve, ttlMs));
    expect(await row.counter()).toBe(counter);
  });

  test('tries again within its TTL where a connection is accepted and stays mute', async ({
    row,
    heartbeatOf,
  }) => {
    const { hostname, port } = new URL(sharedPostgresUrl());
    let connections = 0;
    const server = createServer((client) => {
      client.on('error', () => {});
      if (++connections === 1) return;
      const upstream = connect({ host: hostname, port: Number(port) }).on('error', () => {});
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(sharedPostgresUrl());
    url.port = String((server.address() as { port: number }).port);
    const heartbeat = heartbeatOf({}, url.href);
    await heartbeat.start(row.incarnation);
    // A machine that is busy enough makes the second connection too late as well.
    expect(connections).toBeGreaterThanOrEqual(2);
    await heartbeat.stop();
    server.close();
  });

  test('beats through PgBouncer in transaction mode', async ({ row, heartbeatOf }) => {
    const bouncer = await startPgBouncer(sharedPostgresUrl());
    const heartbeat = heartbeatOf({}, bouncer.url);
    await heartbeat.start(row.incarnation);
    await waitUntil(async () => (await row.counter()) >= 3, 'it has beaten three times');
    await heartbeat.stop();
    await bouncer.stop();
  });

  test('fences when its thread is lost', async ({ row, heartbeatOf }) => {
    const errors: unknown[] = [];
    const heartbeat = heartbeatOf({ onError: (error) => errors.push(error) });
    // It cannot listen there, and ends.
    const squatter = createServer().listen({ path: heartbeat.watchdogAddress });
    await expect(heartbeat.start(row.incarnation)).rejects.toMatchObject({
      code: 'Fenced',
      message: expect.stringContaining('thread ended'),
    });
    expect(errors).toMatchObject([{ code: 'EADDRINUSE' }]);
    squatter.close();
  });
});

describe('a heartbeat beside a busy main loop', () => {
  test('goes on while the main loop is blocked for three TTLs', async ({ row, heartbeatOf }) => {
    // Not through the proxy, which lives in this very loop.
    const heartbeat = heartbeatOf({ ttlMs: 1_500 }, sharedPostgresUrl());
    await heartbeat.start(row.incarnation);
    spin(4_500);
    expect(heartbeat.mayAct()).toBe(true);
    expect(await row.counter()).toBeGreaterThanOrEqual(8);
    expect(heartbeat.fenced.aborted).toBe(false);
  });
});

describe('a heartbeat without a connection of its own', () => {
  test('asks its caller to beat', async ({ row, heartbeatOf }) => {
    let beats = 0;
    const beat = (): Promise<'beaten'> => {
      beats += 1;
      return Promise.resolve('beaten');
    };
    const heartbeat = heartbeatOf({ beater: { kind: 'caller', beat } });
    await heartbeat.start(row.incarnation);
    await waitUntil(() => beats >= 3, 'it has beaten three times');
    expect(heartbeat.mayAct()).toBe(true);
  });

  test('is fenced by the answer, but not by time', async ({ row, heartbeatOf }) => {
    let answer: 'beaten' | 'reaped' | null = 'beaten';
    const errors: unknown[] = [];
    const beat = (): Promise<'beaten' | 'reaped'> =>
      answer === null ? Promise.reject(new Error('No database.')) : Promise.resolve(answer);
    const options: Partial<HeartbeatOptions> = { ttlMs: 300, onError: (error) => errors.push(error) };
    const heartbeat = heartbeatOf({ ...options, beater: { kind: 'caller', beat } });
    await heartbeat.start(row.incarnation);
    answer = null;
    await waitUntil(() => errors.length >= 5, 'five beats have failed');
    spin(600);
    expect(heartbeat.mayAct()).toBe(true);
    answer = 'reaped';
    await waitUntil(() => heartbeat.fenced.aborted, 'it is fenced');
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from './database.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { startProxy, type TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { openSession, type Session } from '../../test/store/session.js';
import { createPostgresDatabase, type PostgresOptions } from './postgres-database.js';

const unavailable = { code: 'Unavailable' };

describe('the PostgreSQL adapter', () => {
  const open: Database[] = [];
  let proxy: TcpProxy;
  let watch: Session;

  beforeAll(async () => {
    proxy = await startProxy(sharedPostgresUrl());
    watch = await openSession();
  });
  afterEach(async () => {
    proxy.heal();
    for (const database of open.splice(0)) await database.close();
  });
  afterAll(async () => {
    await watch.close();
    await proxy.stop();
  });

  function connect(options: Partial<PostgresOptions> = {}): Database {
    const database = createPostgresDatabase({ connection: sharedPostgresUrl(), ...options });
    open.push(database);
    return database;
  }

  async function pidOf(database: Database): Promise<number> {
    const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid ?? 0;
  }

  test('a server that is not there, or does not let us in, is Unavailable', async () => {
    const nobody = connect({ connection: 'postgres://postgres@127.0.0.1:1/postgres' });
    await expect(nobody.query('SELECT 1')).rejects.toMatchObject(unavailable);
    await expect(nobody.transaction(async () => {})).rejects.toMatchObject(unavailable);
    await expect(nobody.listen('a', () => {})).rejects.toMatchObject(unavailable);
    const url = new URL(sharedPostgresUrl());
    url.pathname = '/no_such_database';
    const refused = connect({ connection: url.href }).query('SELECT 1');
    await expect(refused).rejects.toMatchObject({ ...unavailable, message: /no_such_database/ });
  });

  test('a plain configuration will do in place of a URL', async () => {
    const { hostname, port, username } = new URL(sharedPostgresUrl());
    const connection = { host: hostname, port: Number(port), user: username, database: 'postgres' };
    expect(await pidOf(connect({ connection }))).toBeGreaterThan(0);
  });

  test('a network that drops everything is Unavailable in time, and the next call after it heals is answered', async () => {
    const database = connect({ connection: proxy.url, callLimitMs: 2_000, connectLimitMs: 2_000 });
    await database.query('SELECT 1');
    proxy.silence();
    const started = performance.now();
    await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
    await expect(database.query('SELECT 2')).rejects.toMatchObject(unavailable);
    expect(performance.now() - started).toBeLessThan(10_000);
    proxy.heal();
    await waitUntil(async () => (await database.query('SELECT 1')).rows.length === 1, 'the database answers');
  });

  test('a late reply is never taken for the reply to a later call', async () => {
    const database = connect({ callLimitMs: 1_000, connections: 1 });
    await expect(database.query('SELECT pg_sleep(3), 1 AS a', [])).rejects.toMatchObject(unavailable);
    const { rows } = await database.query('SELECT 2 AS a', []);
    expect(rows).toEqual([{ a: 2 }]);
  });

  test('connections that the server ends are replaced, idle ones without a word', async () => {
    const database = connect({ connections: 1 });
    const idle = await pidOf(database);
    await watch.query('SELECT pg_terminate_backend($1)', [idle]);
    await waitUntil(async () => (await pidOf(database)) !== idle, 'a new connection is made');
    const busy = await pidOf(database);
    const sleeping = database.query('SELECT pg_sleep(60)');
    const settled = sleeping.catch((error: unknown) => error);
    await waitUntil(
      async () =>
        (await watch.query("SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active'", [busy]))
          .length > 0,
      'it sleeps',
    );
    await watch.query('SELECT pg_terminate_backend($1)', [busy]);
    expect(await settled).toMatchObject(unavailable);
    expect(await pidOf(database)).not.toBe(busy);
  });

  test('a session that the server ends in the moment in which it is ready is Unavailable, and no more', async () => {
    const name = 'ended-when-ready';
    const database = connect({ connection: `${proxy.url}?application_name=${name}` });
    proxy.silence('replies');
    const refused = expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
    const ended = async (): Promise<boolean> => {
      const sql =
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND state IS NOT NULL';
      return (await watch.query(sql, [name])).length > 0;
    };
    await waitUntil(ended, 'the server has ended it');
    const gone = async (): Promise<boolean> =>
      (await watch.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [name])).length === 0;
    await waitUntil(gone, 'it is gone');
    // Both messages at once.
    proxy.heal();
    await refused;
    expect(await pidOf(database)).toBeGreaterThan(0);
  });

  test('waiting for a free connection is bounded too', async () => {
    const database = connect({ connections: 1, connectLimitMs: 2_000 });
    await database.transaction(async () => {
      await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
    });
    expect(await pidOf(database)).toBeGreaterThan(0);
  });

  test.each([
    ['a statement', { statementLimitMs: 100 }, 'SELECT pg_sleep(30)'],
    ['the wait for a lock', { lockLimitMs: 100 }, 'SELECT pg_advisory_xact_lock(42424242)'],
  ])('%s in a transaction is bounded by the server, and the connection goes on', async (_, limits, text) => {
    const database = connect({ connections: 1 });
    await watch.query('SELECT pg_advisory_lock(42424242)');
    const limited = database.transaction((queryable) => queryable.query(text), limits);
    await expect(limited).rejects.toMatchObject(unavailable);
    await watch.query('SELECT pg_advisory_unlock(42424242)');
    const { rows } = await database.query("SELECT current_setting('statement_timeout') AS at_rest");
    expect(rows).toEqual([{ at_rest: '0' }]);
  });

  test('a process that stalls in a transaction loses it', async () => {
    const database = connect({ connections: 1 });
    const stalled = database.transaction(
      async (queryable) => {
        const { rows } = await queryable.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await waitUntil(
          async () =>
            (await watch.query('SELECT FROM pg_stat_activity WHERE pid = $1', [rows[0]?.pid])).length === 0,
          'the server has ended the session',
        );
        await queryable.query('SELECT 1');
      },
      { idleLimitMs: 100 },
    );
    await expect(stalled).rejects.toMatchObject(unavailable);
    expect(await pidOf(database)).toBeGreaterThan(0);
  });

  test('a commit that gets no answer is Unavailable', async () => {
    const database = connect({ connection: proxy.url, connections: 1 });
    const unknown = database.transaction(
      async (queryable) => {
        await queryable.query('SELECT 1');
        proxy.silence('replies');
      },
      { statementLimitMs: 100 },
    );
    await expect(unknown).rejects.toMatchObject(unavailable);
  });

  test('a listener hears again after its connection was lost, and is called for what it missed', async () => {
    const database = connect({ connection: proxy.url });
    let heard = 0;
    const stop = await database.listen('holdfast_test', () => (heard += 1));
    await watch.query("SELECT pg_notify('holdfast_test', '')");
    await waitUntil(() => heard === 1, 'the first notification is heard');
    proxy.reset();
    await waitUntil(() => heard === 2, 'the listener is called after the reconnect');
    await watch.query("SELECT pg_notify('holdfast_test', '')");
    await waitUntil(() => heard === 3, 'the next notification is heard');
    await stop();
  });

  test('a listener keeps trying while the server is away', async () => {
    const database = connect({ connection: proxy.url, connectLimitMs: 1_000 });
    let heard = 0;
    await database.listen('holdfast_test', () => (heard += 1));
    proxy.silence();
    proxy.reset();
    await waitUntil(async () => (await listening()) === 0, 'the listening session is gone');
    proxy.heal();
    await waitUntil(async () => (await listening()) === 1, 'it listens again');
    await waitUntil(() => heard > 0, 'it is called for what it missed');
  });

  async function listening(): Promise<number> {
    const text = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN "holdfast_test"%'`;
    return (await watch.query(text)).length;
  }

  test('close is idempotent and bounded, with calls under way and the server out of reach', async () => {
    const database = connect({ connection: proxy.url });
    await database.listen('holdfast_test', () => {});
    const sleeping = database.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    const pid = await pidOf(database);
    expect(pid).toBeGreaterThan(0);
    proxy.silence();
    const started = performance.now();
    await Promise.all([database.close(), database.close()]);
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(await sleeping).toMatchObject(unavailable);
    await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
  });
});

import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import type { PgBouncer } from '../../test/helpers/pgbouncer.js';
import type { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { startPgBouncer } from '../../test/helpers/pgbouncer.js';
import {
  dropNamespace,
  sharedPostgresUrl,
  sharedRedisUrl,
  uniqueNamespace,
} from '../../test/helpers/servers.js';
import { startProxy } from '../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { Unavailable, WaitTimeout } from '../errors.js';
import { createHoldfast } from '../holdfast.js';
import { defineTask } from '../tasks/definition.js';

let namespace: string;
let opened: Holdfast[];
let proxy: TcpProxy;
let client: pg.Client;

beforeEach(async () => {
  namespace = uniqueNamespace();
  opened = [];
  proxy = await startProxy(sharedPostgresUrl());
  client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
});
afterEach(async () => {
  proxy.heal();
  for (const hf of opened) await hf.close();
  await proxy.stop();
  await client.end();
  await dropNamespace(namespace);
});

async function open(database: string, options: HoldfastOptions = {}): Promise<Holdfast> {
  const hf = await createHoldfast({
    database,
    redis: sharedRedisUrl(),
    namespace,
    migrate: true,
    ...options,
  });
  opened.push(hf);
  return hf;
}

async function countTasks(): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM "${namespace}".tasks`);
  return Number(rows[0]?.count);
}

describe('an outage of PostgreSQL', { timeout: 90_000 }, () => {
  it('that swallows the reply to a dispatch leaves one task, and dispatch resolves with it', async () => {
    const hf = await open(proxy.url);
    await hf.tasks.list();
    proxy.silence('replies');
    const dispatching = hf.dispatch('x', { n: 1 });
    await waitUntil(async () => (await countTasks()) === 1, 'the insert is executed');
    proxy.reset();
    proxy.heal();
    const { id } = await dispatching;
    expect(await hf.tasks.get(id)).toMatchObject({ name: 'x', payload: { n: 1 } });
    expect(await countTasks()).toBe(1);
  });

  it('that swallows the reply to a dispatch of many leaves each of them once', async () => {
    const hf = await open(proxy.url);
    await hf.tasks.list();
    proxy.silence('replies');
    const dispatching = hf.dispatchMany(Array.from({ length: 900 }, (_, n) => ({ task: 'x', payload: n })));
    await waitUntil(async () => (await countTasks()) === 900, 'the insert is executed');
    proxy.reset();
    proxy.heal();
    expect(await dispatching).toHaveLength(900);
    expect(await countTasks()).toBe(900);
  });

  it('does not end a wait that has begun, nor outlast its time limit', async () => {
    const done = defineTask({ name: 'done', run: () => 'y' });
    const worker = await open(sharedPostgresUrl(), { tasks: [done] });
    const hf = await open(proxy.url);
    const { id } = await hf.dispatch('done');
    const { id: other } = await hf.dispatch('nobody');
    const waiting = hf.wait(id, { timeout: '60s' });
    const timingOut = expect(hf.wait(other, { timeout: '1s' })).rejects.toThrow(WaitTimeout);
    // Single tasks are read one query after another: this one's answer tells that both waits have begun.
    await expect(hf.wait(other, { timeout: 0 })).rejects.toThrow(WaitTimeout);
    proxy.silence();
    const running = worker.createWorker({ name: 'w' }).run();
    await worker.wait(id, { timeout: '60s' });
    await timingOut;
    proxy.reset();
    proxy.heal();
    expect(await waiting).toMatchObject({ state: 'completed', result: 'y' });
    await worker.close();
    await running;
  });

  it('at the first use is told, and the next use works', async () => {
    await open(sharedPostgresUrl());
    const hf = await open(proxy.url, { migrate: false });
    proxy.silence();
    await expect(hf.dispatch('x')).rejects.toThrow(Unavailable);
    expect(await countTasks()).toBe(0);
    proxy.heal();
    await hf.dispatch('x');
    expect(await countTasks()).toBe(1);
  });
});

describe('PgBouncer in transaction mode', () => {
  let bouncer: PgBouncer;
  beforeEach(async () => {
    bouncer = await startPgBouncer(sharedPostgresUrl());
  });
  afterEach(() => bouncer.stop());

  it('serves dispatching, also of many and in a transaction of the caller', async () => {
    await open(sharedPostgresUrl());
    const hf = await open(bouncer.url, { migrate: false });
    await hf.dispatch('x');
    await hf.dispatchMany(Array.from({ length: 1_500 }, (_, n) => ({ task: 'x', payload: n })));
    const tx = new pg.Client({ connectionString: bouncer.url });
    await tx.connect();
    await tx.query('BEGIN');
    await hf.dispatch('x', null, { tx });
    await tx.query('COMMIT');
    await tx.end();
    expect(await countTasks()).toBe(1_502);
  });
});

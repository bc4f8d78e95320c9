import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { freePort, removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { waitUntil } from '../helpers/wait-until.js';
import { outagePlace, type OutagePlace, type OutageWorker } from './helpers/outage-place.js';
import { loadWithHolders } from './helpers/redis-load.js';

const dir = temporaryFolder('redis-data');
const withAof = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', dir];
const allowed = ['--enable-debug-command', 'yes'];
const ends: (() => unknown)[] = [];
let port: number;
let server: RedisServer;
let other: RedisServer;
let place: OutagePlace;
let workers: OutageWorker[];

beforeAll(async () => {
  mkdirSync(dir, { recursive: true });
  port = await freePort();
  server = await startRedis({ port, args: allowed });
  other = await startRedis();
  place = await outagePlace(
    { onTestFinished: (end) => void ends.push(end as () => unknown) },
    { direct: { redis: server.url } },
  );
  const args = ['--ttl', '15s', '--concurrency', '12'];
  workers = await Promise.all(['a', 'b', 'c'].map((name) => place.worker([...args, '--name', name])));
});
afterAll(async () => {
  for (const end of ends) await end();
  await Promise.all([server.stop(), other.stop()]);
  removeFolder(dir);
});

async function command(...[name = '', ...args]: string[]): Promise<unknown> {
  const redis = new Redis(place.direct.redis);
  try {
    return await redis.call(name, args);
  } finally {
    redis.disconnect();
  }
}

async function info(url: string, line: string): Promise<boolean> {
  const redis = new Redis(url);
  try {
    return (await redis.info()).includes(line);
  } finally {
    redis.disconnect();
  }
}

async function restart(args: string[]): Promise<void> {
  server.kill('SIGKILL');
  await server.exited;
  await server.stop();
  server = await startRedis({ port, args: [...allowed, ...args] });
}

/** It follows the empty one, and is a master again: on the same connections, with the same run id, without its data. */
async function demoteAndPromote(): Promise<void> {
  await command('REPLICAOF', '127.0.0.1', String(other.port));
  await waitUntil(() => info(server.url, 'master_link_status:up'), 'it follows');
  await command('REPLICAOF', 'NO', 'ONE');
}

/** A replica that has missed the last writes takes its place. */
async function failOverToOne(): Promise<void> {
  const replica = new Redis(other.url);
  await replica.call('REPLICAOF', '127.0.0.1', String(port));
  await waitUntil(() => info(other.url, 'master_link_status:up'), 'it follows');
  await replica.call('REPLICAOF', 'NO', 'ONE');
  replica.disconnect();
  // Some of what it has missed has ended by then, one runs, and one waits behind that.
  const missing = { exclusive: ['missed'] };
  const { id } = await place.hf.dispatch('holds', { until: place.gate, order: '0' }, missing);
  await waitUntil(async () => (await place.hf.tasks.get(id)).progress.length > 0, 'it runs', 20_000);
  await place.hf.dispatch('work', { order: '1' }, missing);
  const missed = await place.hf.dispatchMany(
    Array.from({ length: 30 }, () => ({ name: 'work', payload: { ms: 1 } })),
  );
  await place.hf.wait(missed[29]?.id ?? '', { timeout: '20s' });
  place.redis?.leadTo(other.url);
  place.redis?.reset();
  place.direct.redis = other.url;
}

async function flushScripts(): Promise<void> {
  for (let times = 0; times < 20; times++) {
    await command('SCRIPT', 'FLUSH');
    await delay(100);
  }
}

/** The last two change the server that the others use. */
const losses: [string, () => Promise<unknown>][] = [
  ['FLUSHALL', () => command('FLUSHALL')],
  ['FLUSHDB', () => command('FLUSHDB')],
  ['SCRIPT FLUSH every 100 ms', flushScripts],
  ['DEBUG RELOAD', () => command('DEBUG', 'RELOAD')],
  ['a master that was demoted and promoted again', demoteAndPromote],
  ['a start without its data', () => restart([])],
  ['a start that turns on a file of its writes', () => restart(withAof)],
  ['a start with a file of its writes', () => restart(withAof)],
  ['a replica that missed the last writes', failOverToOne],
];

describe('with 20 tasks that run, 200 that wait, one that is being canceled, and locks', () => {
  test.each(losses)('%s: nothing runs twice, and all goes on', async (name, lose) => {
    const load = await loadWithHolders(place);
    await lose();
    const ms = await load.canaryMs();
    console.log(`${name}: a task ended within ${ms} ms of it`);
    expect(ms).toBeLessThan(name.startsWith('FLUSH') ? 2_000 : 5_000);
    await load.end();
    for (const { child, stderr } of workers) {
      expect(child.exitCode).toBeNull();
      expect(stderr).not.toMatch(/[Uu]nhandled|uncaught|fenced/);
    }
  });

  test('after all of them nothing is left, and no two that conflict ever ran together', async () => {
    await place.end();
  });
});

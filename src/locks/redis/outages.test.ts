import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { uniqueNamespace } from '../../../test/helpers/servers.js';
import { type RedisServer, startRedis } from '../../../test/helpers/redis-server.js';
import { startProxy, type TcpProxy } from '../../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import { Unavailable } from '../../errors.js';
import { ada, epoch, hold, lane } from '../conformance/harness.conformance.js';
import type { LockTable } from '../lock-table.js';
import { openRedis, type OpenRedisTable } from './open-redis.conformance.js';
import { createRedisLockTable } from './redis-lock-table.js';

const limitMs = 300;
const never = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];

/** Of its own: on a shared one, the clients of other tests would be taken for those of these. */
let ownServer: RedisServer;

beforeAll(async () => {
  ownServer = await startRedis();
});

afterAll(() => ownServer.stop());

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A table behind a network that can be cut, and the same table seen directly. */
async function behindProxy(): Promise<{ far: LockTable; near: OpenRedisTable; proxy: TcpProxy }> {
  const proxy = await startProxy(ownServer.url);
  const near = await openRedis({ url: ownServer.url });
  const far = createRedisLockTable({ url: proxy.url, namespace: near.namespace, commandLimitMs: limitMs });
  await far.start();
  closing.push(
    () => proxy.stop(),
    () => near.close(),
    () => far.stop(),
  );
  await near.table.beginEpoch(epoch, 1);
  await near.table.openEpoch(epoch);
  await near.table.listOwner(epoch, ada);
  return { far, near, proxy };
}

async function timed<T>(work: Promise<T>): Promise<{ ms: number; outcome: unknown }> {
  const started = performance.now();
  const outcome: unknown = await work.catch((error: unknown) => error);
  return { ms: performance.now() - started, outcome };
}

const enterOne = (table: LockTable, task: string): Promise<unknown> =>
  table.enter(epoch, '1', [hold(task, { exclusive: [task] })]);

describe('when Redis cannot be reached', () => {
  test('start tells so, and may be tried again', async () => {
    const server = await startRedis();
    await server.stop();
    const table = createRedisLockTable({
      url: server.url,
      namespace: uniqueNamespace(),
      commandLimitMs: limitMs,
    });
    closing.push(() => table.stop());
    await expect(table.start()).rejects.toThrow(Unavailable);
    await expect(table.start()).rejects.toThrow(/ECONNREFUSED/);
    const again = await startRedis({ port: server.port });
    closing.push(() => again.stop());
    await table.start();
    expect(await table.readEpoch()).toBeNull();
  });

  test('start does not wait for a server that never answers', async () => {
    const proxy = await startProxy(ownServer.url);
    closing.push(() => proxy.stop());
    proxy.silence();
    const table = createRedisLockTable({
      url: proxy.url,
      namespace: uniqueNamespace(),
      commandLimitMs: limitMs,
    });
    const { ms, outcome } = await timed(table.start());
    expect(outcome).toBeInstanceOf(Unavailable);
    expect(ms).toBeLessThan(10 * limitMs);
  });

  test('before start and after stop every operation is unavailable, and hints do nothing', async () => {
    const table = createRedisLockTable({ url: ownServer.url, namespace: uniqueNamespace() });
    for (const act of [async () => {}, () => table.stop(), () => table.stop()]) {
      await act();
      await expect(table.readEpoch()).rejects.toThrow(Unavailable);
      await table.wakeAdmission();
      await table.announceSettled(['t']);
      expect(await table.waitForWake(epoch, [lane], 10_000, never)).toBe('timeout');
      await table.start();
    }
    await table.stop();
  });
});

describe('when the network goes silent', () => {
  test('a command is given up after its limit, and a new connection is made', async () => {
    const { far, proxy } = await behindProxy();
    proxy.silence();
    const { ms, outcome } = await timed(enterOne(far, 't1'));
    expect(outcome).toBeInstanceOf(Unavailable);
    expect(ms).toBeLessThan(10 * limitMs);
    expect(((await timed(enterOne(far, 't1'))).outcome as Error).message).toMatch(/unknown whether/);
    await far.wakeAdmission();
    await far.announceSettled(['t']);
    proxy.heal();
    await waitUntil(() => far.readEpoch(), 'the table is reached again');
  });

  test('what was given up may have been done, and is done once', async () => {
    const { far, near, proxy } = await behindProxy();
    // The server knows the script, so that one request does it.
    await enterOne(near.table, 'known');
    proxy.silence('replies');
    expect((await timed(enterOne(far, 't1'))).outcome).toBeInstanceOf(Unavailable);
    await waitUntil(() => near.table.inspectHold(epoch, 't1'), 'the lost call has entered the hold');
    proxy.heal();
    await waitUntil(() => far.readEpoch(), 'the table is reached again');
    expect(await enterOne(far, 't1')).toEqual([{ status: 'already' }]);
    expect((await near.dump(epoch)).counters.order).toBe('2');
  });

  test('without a connection a command is refused at once, and never sent later', async () => {
    const { far, near, proxy } = await behindProxy();
    // The server knows the script, so that one request does it.
    await enterOne(near.table, 'known');
    proxy.silence();
    await timed(enterOne(far, 'lost'));
    // The connection is being replaced now; it comes about while these would still wait for it.
    const refused = ['refused1', 'refused2', 'refused3'].map((task) => timed(enterOne(far, task)));
    setTimeout(() => proxy.heal(), limitMs / 3);
    for (const { ms, outcome } of await Promise.all(refused)) {
      expect(outcome).toBeInstanceOf(Unavailable);
      expect(ms).toBeLessThan(limitMs / 3);
    }
    await waitUntil(() => far.readEpoch(), 'the table is reached again');
    const tasks = (await near.dump(epoch)).holds.map(({ task }) => task);
    expect(tasks.filter((task) => task.startsWith('refused'))).toEqual([]);
  });

  test('a connection that gave no answer in time is replaced: it may be half-open', async () => {
    const server = await startRedis();
    const proxy = await startProxy(server.url);
    const options = { url: proxy.url, namespace: uniqueNamespace(), commandLimitMs: limitMs };
    const table = createRedisLockTable(options);
    const control = new Redis(server.url);
    closing.push(
      () => server.stop(),
      () => proxy.stop(),
      async () => control.disconnect(),
      () => table.stop(),
    );
    const connections = async (): Promise<string[]> =>
      (await clients(control)).map((line) => line.split(' ')[0]!);
    const others = await connections();
    await table.start();
    const [first] = (await connections()).filter((id) => !others.includes(id));
    proxy.silence();
    expect((await timed(table.readEpoch())).outcome).toBeInstanceOf(Unavailable);
    proxy.heal();
    await waitUntil(async () => !(await connections()).includes(first!), 'the first connection is gone');
    await waitUntil(
      async () => (await timed(table.readEpoch())).outcome === null,
      'the table is reached again',
    );
  });

  test('a reset connection fails what awaits an answer at once, and is replaced', async () => {
    const { far, proxy } = await behindProxy();
    proxy.silence('replies');
    const pending = timed(far.readEpoch());
    proxy.reset();
    proxy.heal();
    const { outcome } = await pending;
    expect(outcome).toBeInstanceOf(Unavailable);
    await waitUntil(() => far.readEpoch(), 'the table is reached again');
  });

  test('stop is quick', async () => {
    const { far, proxy } = await behindProxy();
    const waiting = far.waitForWake(epoch, [lane], 60_000, never);
    proxy.silence();
    const pending = timed(far.readEpoch());
    expect((await timed(far.stop())).ms).toBeLessThan(limitMs);
    expect(await waiting).toBe('timeout');
    expect((await pending).outcome).toBeInstanceOf(Unavailable);
  });
});

describe('waiting for wake-ups through an outage', () => {
  test('a wait ends when its connection is lost, and the next wait works', async () => {
    const { far, near, proxy } = await behindProxy();
    const waiting = far.waitForWake(epoch, [lane], 60_000, never);
    await waitUntil(() => blockedClients(near.redis), 'the wait has reached the server');
    proxy.reset();
    expect(await waiting).toBe('timeout');
    // Until the server has noticed, it would hand the wake-up to the connection that was lost.
    await waitUntil(async () => (await blockedClients(near.redis)) === 0, 'the server has noticed');
    await near.table.wakeAdmission();
    await waitUntil(
      async () => (await far.waitForWake(epoch, [lane], 1_000, never)) === 'admission',
      'a later wait wakes',
    );
  });

  test('a wait on a silent network ends with its time, and the next opens a connection of its own', async () => {
    const { far, near, proxy } = await behindProxy();
    expect(await far.waitForWake(epoch, [lane], 1, never)).toBe('timeout');
    proxy.silence();
    const { ms, outcome } = await timed(far.waitForWake(epoch, [lane], 100, never));
    expect(outcome).toBe('timeout');
    expect(ms).toBeLessThan(10 * limitMs);
    proxy.heal();
    await waitUntil(async () => {
      // The first may go to the wait that was given up: only now does it reach the server.
      await near.table.wakeAdmission();
      return (await far.waitForWake(epoch, [lane], 100, never)) === 'admission';
    }, 'it wakes');
  });

  test('waits do not spin while there is no server', async () => {
    const server = await startRedis();
    const table = createRedisLockTable({
      url: server.url,
      namespace: uniqueNamespace(),
      commandLimitMs: limitMs,
    });
    await table.start();
    closing.push(() => table.stop());
    await server.stop();
    const { ms, outcome } = await timed(table.waitForWake(epoch, [lane], 60_000, never));
    expect(outcome).toBe('timeout');
    expect(ms).toBeGreaterThan(100);
    const aborted = AbortSignal.timeout(20);
    expect((await timed(table.waitForWake(epoch, [lane], 60_000, aborted))).ms).toBeLessThan(400);
  });

  test('an aborted wait leaves no client behind that would take a wake-up', async () => {
    const { far, near } = await behindProxy();
    for (let round = 0; round < 20; round++) {
      const aborting = new AbortController();
      const waiting = far.waitForWake(epoch, [lane], 60_000, aborting.signal);
      if (round % 2 === 0)
        await waitUntil(() => blockedClients(near.redis), 'the wait has reached the server');
      aborting.abort();
      expect(await waiting).toBe('timeout');
      // A connection that had to be closed leaves the server a moment later.
      await waitUntil(async () => (await blockedClients(near.redis)) === 0, 'nobody waits there any more');
    }
    await waitUntil(async () => (await connectionsOf(near.redis, 'blpop')) <= 1, 'one connection is left');
  });

  test('a wake-up that meets an aborted wait goes to another', async () => {
    const { far, near } = await behindProxy();
    for (let round = 0; round < 50; round++) {
      const aborting = new AbortController();
      const first = far.waitForWake(epoch, [lane], 60_000, aborting.signal);
      await waitUntil(() => blockedClients(near.redis), 'the wait has reached the server');
      const pushed = near.table.wakeAdmission();
      aborting.abort();
      const [wake] = await Promise.all([first, pushed]);
      if (wake === 'timeout')
        expect(await near.table.waitForWake(epoch, [lane], 5_000, never)).toBe('admission');
    }
  });
});

async function blockedClients(redis: Redis): Promise<number> {
  return (await clients(redis)).filter((line) => / cmd=blpop /.test(line) && / flags=\S*b/.test(line)).length;
}

async function connectionsOf(redis: Redis, command: string): Promise<number> {
  return (await clients(redis)).filter((line) => line.includes(` cmd=${command} `)).length;
}

async function clients(redis: Redis): Promise<string[]> {
  return String(await redis.call('CLIENT', 'LIST')).split('\n');
}

describe('the channel of settled tasks', () => {
  test('listening survives a lost connection', async () => {
    const { far, near, proxy } = await behindProxy();
    const heard: string[] = [];
    closing.push(async () => stopListening());
    const stopListening = far.onSettled((tasks) => heard.push(...tasks));
    await waitUntil(async () => {
      await near.table.announceSettled(['before']);
      return heard.includes('before');
    }, 'it listens');
    proxy.reset();
    await waitUntil(async () => {
      await near.table.announceSettled(['after']);
      return heard.includes('after');
    }, 'it listens again');
  });

  test('what others say on it is ignored', async () => {
    const { far, near } = await behindProxy();
    const heard: string[] = [];
    far.onSettled((tasks) => heard.push(...tasks));
    const channel = `{${near.namespace}}:settled`;
    await waitUntil(async () => (await near.redis.publish(channel, 'not json')) > 0, 'it listens');
    for (const noise of ['{}', '[1]', 'null', '"t"']) await near.redis.publish(channel, noise);
    await near.table.announceSettled(Array.from({ length: 1_200 }, (_, n) => `t${n}`));
    await waitUntil(() => heard.length === 1_200, 'all of them are heard');
  });
});

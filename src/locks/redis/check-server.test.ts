import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../../../test/helpers/redis-server.js';
import { uniqueNamespace } from '../../../test/helpers/servers.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import { NotConfigured, Unavailable, UnsafeServer } from '../../errors.js';
import { createRedisLockTable } from './redis-lock-table.js';
import { scriptSource } from './script-source.js';

const servers: RedisServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function start(...args: string[]): Promise<RedisServer> {
  const server = await startRedis({ args });
  servers.push(server);
  return server;
}

async function outcomeOfStart(url: string): Promise<unknown> {
  const table = createRedisLockTable({ url, namespace: uniqueNamespace() });
  try {
    return await table.start();
  } catch (error) {
    return error;
  } finally {
    await table.stop();
  }
}

async function expectRefused(
  url: string,
  kind: new (...args: never[]) => Error,
  saying: RegExp,
): Promise<void> {
  const outcome = await outcomeOfStart(url);
  expect(outcome).toBeInstanceOf(kind);
  expect((outcome as Error).message).toMatch(saying);
}

/** The URL of a user who may do all but what `rules` take away. */
async function urlOfUser(server: RedisServer, ...rules: string[]): Promise<string> {
  const redis = new Redis(server.url);
  await redis.call('ACL', 'SETUSER', 'worker', 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rules);
  redis.disconnect();
  return `redis://worker:secret@127.0.0.1:${server.port}`;
}

describe('a server that the lock table starts on', () => {
  test('keeps what it is given', async () => {
    const server = await start();
    expect(await outcomeOfStart(server.url)).toBeUndefined();
  });

  test.each(['allkeys-lru', 'volatile-ttl'])('must not evict: %s', async (policy) => {
    const server = await start('--maxmemory-policy', policy);
    await expectRefused(server.url, UnsafeServer, /maxmemory-policy is .*Set it to noeviction/);
  });

  test('must let scripts read INFO', async () => {
    const server = await start();
    await expectRefused(await urlOfUser(server, '-info'), UnsafeServer, /\+info/);
  });

  test('must let scripts read INFO even where the user may', async () => {
    const server = await start();
    const sourceOf = (name: string): string => scriptSource(name).replaceAll("'INFO'", "'NO-INFO'");
    const table = createRedisLockTable({ url: server.url, namespace: uniqueNamespace(), sourceOf });
    await expect(table.start()).rejects.toThrow(UnsafeServer);
  });

  test('need not let the user read the configuration', async () => {
    const server = await start();
    expect(await outcomeOfStart(await urlOfUser(server, '-config', '-client'))).toBeUndefined();
  });

  test('need not let the user manage connections for wake-ups to work', async () => {
    const server = await start();
    const table = createRedisLockTable({
      url: await urlOfUser(server, '-client'),
      namespace: uniqueNamespace(),
    });
    await table.start();
    const aborting = new AbortController();
    const aborted = table.waitForWake('1', [], 60_000, aborting.signal);
    const redis = new Redis(server.url);
    await waitUntil(async () => (await redis.info('clients')).includes('blocked_clients:1'), 'it waits');
    aborting.abort();
    expect(await aborted).toBe('timeout');
    await waitUntil(async () => (await redis.info('clients')).includes('blocked_clients:0'), 'it is gone');
    redis.disconnect();
    await table.wakeAdmission();
    expect(await table.waitForWake('1', [], 60_000, new AbortController().signal)).toBe('admission');
    await table.stop();
  });

  test('must be a master', async () => {
    const [server, other] = [await start(), await start()];
    const redis = new Redis(server.url);
    await redis.call('REPLICAOF', '127.0.0.1', String(other.port));
    await waitUntil(async () => (await redis.info('replication')).includes('role:slave'), 'it is a replica');
    redis.disconnect();
    await expectRefused(server.url, Unavailable, /replica/);
  });

  test('must not be a Cluster node behind a standalone URL', async () => {
    const server = await start('--cluster-enabled', 'yes');
    await expectRefused(server.url, NotConfigured, /redis\+cluster:/);
  });

  test('must accept the password', async () => {
    const server = await start('--requirepass', 'right');
    await expectRefused(`redis://:wrong@127.0.0.1:${server.port}`, Unavailable, /WRONGPASS/);
    await expectRefused(server.url, Unavailable, /NOAUTH/);
    expect(await outcomeOfStart(`redis://:right@127.0.0.1:${server.port}`)).toBeUndefined();
  });
});

test('the lock table needs a URL or options, and a plain namespace', () => {
  const namespace = uniqueNamespace();
  expect(() => createRedisLockTable({ namespace })).toThrow(NotConfigured);
  expect(() => createRedisLockTable({ namespace, url: 'redis://h', options: {} })).toThrow(NotConfigured);
  expect(() => createRedisLockTable({ namespace: 'a{b}', url: 'redis://h' })).toThrow(NotConfigured);
  expect(createRedisLockTable({ namespace, url: 'redis://u:secret@h' }).address).toBe('redis://h:6379/0');
  expect(createRedisLockTable({ namespace, options: { host: 'h' } }).address).toBe('redis://h:6379/0');
});

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../../../test/helpers/redis-server.js';
import { ada, epoch, hold, lane, TableInEpoch } from '../conformance/harness.conformance.js';
import { keyNames } from './keys.js';
import { openRedis } from './open-redis.conformance.js';

describe('a server shared with others', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const plant: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.set(key, 'foreign'),
    list: (key) => redis.rpush(key, 'foreign'),
    set: (key) => redis.sadd(key, 'foreign'),
    zset: (key) => redis.zadd(key, 1, 'foreign'),
    hash: (key) => redis.hset(key, 'field', 'foreign'),
    stream: (key) => redis.xadd(key, '*', 'field', 'foreign'),
  };

  /** Names that a careless pattern, prefix or parser would take for ours. */
  function similarNames(namespace: string): string[] {
    const ours = Object.values(keyNames).map((name) => (name.endsWith(':') ? `${name}r` : name));
    const prefixes = [
      ...['', `${namespace}:`, `${namespace}:${epoch}:`, `{${namespace}:`, `x{${namespace}}:${epoch}:`],
      ...[
        `{${namespace}}${epoch}:`,
        `{${namespace}}:${epoch}`,
        `{${namespace}}:${epoch}x:`,
        `{${namespace}}:${epoch}0:`,
      ],
      ...[`{${namespace}}:x:`, `{${namespace}}::`, `{${namespace}2}:${epoch}:`, `{${namespace}}:-${epoch}:`],
    ];
    return prefixes.flatMap((prefix) => ours.map((name) => prefix + name));
  }

  async function contents(keys: string[]): Promise<unknown[]> {
    return Promise.all(keys.map(async (key) => [key, (await redis.dumpBuffer(key))?.toString('hex')]));
  }

  test.each(Object.keys(plant))('foreign keys of type %s are neither read nor harmed', async (type) => {
    await redis.flushall();
    const open = await openRedis({ url: server.url });
    const foreign = similarNames(open.namespace);
    for (const key of foreign) await plant[type]!(key);
    const before = await contents(foreign);

    const current = await new TableInEpoch(open).begin();
    expect(await current.enter(hold('t1', { exclusive: ['r'] }), hold('t2', { shared: ['r'] }))).toEqual([
      'granted',
      'queued',
    ]);
    expect(await current.claimTasks(ada)).toEqual(['t1']);
    expect(await open.table.findOwners(epoch, { after: null, limit: 100 })).toHaveLength(2);
    expect(await current.release(ada, 't1')).toEqual(['released']);
    expect(await current.claimTasks(ada)).toEqual(['t2']);
    await open.table.beginEpoch('8', 1);
    const unlinked = await open.table.unlinkEpochsBefore('8');
    expect(unlinked).toBeGreaterThan(0);
    expect(await contents(foreign)).toEqual(before);
    // Of the old epoch nothing is left but what others wrote.
    const left = (await redis.keys(`{${open.namespace}}:*`)).filter((key) => !foreign.includes(key));
    expect(left).toEqual([`{${open.namespace}}:epoch`]);
    await open.table.stop();
    open.disconnect();
  });

  test('an epoch record of another type is an outage, not a reason to write', async () => {
    await redis.flushall();
    const open = await openRedis({ url: server.url });
    await redis.set(`{${open.namespace}}:epoch`, 'foreign');
    const request = { owner: ada, lanes: [lane], limit: 1, lanesVersion: null };
    await expect(open.table.claim(epoch, request)).rejects.toThrow(/WRONGTYPE/);
    await expect(open.table.beginEpoch(epoch, 1)).rejects.toThrow(/WRONGTYPE/);
    expect(await redis.keys('*')).toEqual([`{${open.namespace}}:epoch`]);
    await open.table.stop();
    open.disconnect();
  });

  test('unlinking old epochs leaves the current one, whatever it is asked for', async () => {
    await redis.flushall();
    const open = await openRedis({ url: server.url });
    const current = await new TableInEpoch(open).begin();
    await current.enter(hold('t1', { exclusive: ['r'] }));
    const before = await current.dump();
    expect(await open.table.unlinkEpochsBefore('1000')).toBe(0);
    expect(await current.dump()).toEqual(before);
    await open.close();
  });

  test('a full server takes no more holds, and still lets everything out', async () => {
    await redis.flushall();
    const open = await openRedis({ url: server.url });
    const current = await new TableInEpoch(open).begin();
    await current.enter(hold('t1', { exclusive: ['r'] }), hold('t2', { exclusive: ['r'] }), hold('t3'));
    await redis.config('SET', 'maxmemory', '1');
    const before = await current.dump();
    await expect(current.enter(hold('t4', { exclusive: ['s'] }))).rejects.toThrow(/OOM/);
    expect(await current.dump()).toEqual(before);
    expect(await current.claimTasks(ada)).toEqual(['t1', 't3']);
    const moves = [{ task: 't3', entry: 1, owner: ada, nextEntry: 2 }];
    expect(await open.table.move(epoch, moves)).toEqual(['moved']);
    expect(await open.table.takeOut(epoch, [{ task: 't3', entry: 2 }])).toEqual(['taken-out']);
    expect(await current.release(ada, 't1')).toEqual(['released']);
    expect(await current.claimTasks(ada)).toEqual(['t2']);
    expect(await current.release(ada, 't2')).toEqual(['released']);
    expect((await current.dump()).holds).toEqual([]);
    await redis.config('SET', 'maxmemory', '0');
    await open.close();
  });
});

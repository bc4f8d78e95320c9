import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { startRedis, type RedisOptions, type RedisServer } from '../../../test/helpers/redis-server.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import {
  ada,
  buildingHold,
  epoch,
  expectRefused,
  hold,
  lane,
  TableInEpoch,
} from '../conformance/harness.conformance.js';
import type { LockTable } from '../lock-table.js';
import { epochKey } from './keys.js';
import { openRedis, type OpenRedisTable } from './open-redis.conformance.js';

describe('a table that is not the one the epoch was built on', () => {
  const servers: RedisServer[] = [];
  const tables: OpenRedisTable[] = [];

  afterEach(async () => {
    for (const each of tables.splice(0)) {
      await each.table.stop();
      each.disconnect();
    }
    for (const each of servers.splice(0)) await each.stop();
  });

  async function start(options: RedisOptions = {}): Promise<RedisServer> {
    const server = await startRedis(options);
    servers.push(server);
    return server;
  }

  /** An epoch with one owned and one granted hold. */
  async function openOn(server: RedisServer): Promise<OpenRedisTable> {
    const open = await openRedis({ url: server.url });
    tables.push(open);
    const current = await new TableInEpoch(open).begin();
    await current.enter(hold('owned', { exclusive: ['a'] }));
    await current.claim(ada);
    await current.enter(hold('granted', { exclusive: ['b'] }));
    return open;
  }

  const operations: ((table: LockTable) => Promise<unknown>)[] = [
    (table) => table.enter(epoch, '1', [hold('t', { exclusive: ['r'] })]),
    (table) => table.enterNow(epoch, ada, [hold('t', { exclusive: ['r'] })]),
    (table) => table.claim(epoch, { owner: ada, lanes: [lane], limit: 1, lanesVersion: null }),
    (table) => table.move(epoch, [{ task: 'owned', entry: 1, nextEntry: 2, owner: ada }]),
    (table) => table.release(epoch, [{ task: 'owned', entry: 1, owner: ada }]),
    (table) => table.takeOut(epoch, [{ task: 'granted', entry: 1 }]),
    (table) => table.continuePromotions(epoch),
    (table) => table.listOwner(epoch, { name: 'eve', incarnation: '9' }),
    (table) => table.unlistOwner(epoch, ada),
    (table) => table.findOwners(epoch, { after: null, limit: 9 }),
    (table) => table.readRegistry(epoch, ada, { after: null, limit: 9 }),
    (table) => table.inspectLocks(epoch, ['a'], 9),
    (table) => table.inspectHold(epoch, 'owned'),
    (table) => table.openEpoch(epoch),
    (table) => table.enterBuilding(epoch, [buildingHold('t')]),
  ];

  async function expectAllRefused({ table, dump }: OpenRedisTable, reason: 'identity'): Promise<void> {
    const before = await dump(epoch);
    for (const operate of operations) await expectRefused(operate(table), reason);
    expect(await dump(epoch)).toEqual(before);
    expect(await table.readEpoch()).toMatchObject({ epoch, identityHolds: false });
  }

  test('a server that restarts with all it had', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-kept-'));
    const args = ['--dir', dir, '--appendonly', 'yes', '--appendfsync', 'always'];
    const first = await start({ args });
    const open = await openOn(first);
    await first.stop();
    await start({ args, port: first.port });
    await waitUntil(() => open.redis.ping(), 'the server answers again');
    await waitUntil(() => open.table.readEpoch(), 'the table reaches it again');
    await expectAllRefused(open, 'identity');
    rmSync(dir, { recursive: true, force: true });
  });

  test('a first replica changes the replication id, and a promoted replica is another server', async () => {
    const [server, replica] = [await start(), await start()];
    const open = await openOn(server);
    const control = new Redis(replica.url);
    await control.call('REPLICAOF', '127.0.0.1', String(server.port));
    const isOnline = async (): Promise<boolean> =>
      /slave0:.*state=online/.test(await open.redis.info('replication'));
    await waitUntil(isOnline, 'the replica is online');
    await expectAllRefused(open, 'identity');
    await waitUntil(() => control.exists(epochKey(open.namespace)), 'the replica has a copy');
    await control.call('REPLICAOF', 'NO', 'ONE');
    control.disconnect();
    const promoted = await openRedis({ url: replica.url, namespace: open.namespace });
    tables.push(promoted);
    await expectAllRefused(promoted, 'identity');
  });

  test('demoted and promoted again, on a connection that lived on', async () => {
    const [server, other] = [await start(), await start()];
    const open = await openOn(server);
    const idBefore = await open.redis.call('CLIENT', 'ID');
    await open.redis.call('REPLICAOF', '127.0.0.1', String(other.port + 1));
    await open.redis.call('REPLICAOF', 'NO', 'ONE');
    expect(await open.redis.call('CLIENT', 'ID')).toBe(idBefore);
    await expectAllRefused(open, 'identity');
  });

  test('FLUSHALL leaves no epoch', async () => {
    const server = await start();
    const open = await openOn(server);
    await open.redis.flushall();
    for (const operate of operations) await expectRefused(operate(open.table), 'none');
    expect(await open.redis.dbsize()).toBe(0);
    expect(await open.table.readEpoch()).toBeNull();
  });

  test('a new epoch can be built on the server as it is now', async () => {
    const server = await start();
    const open = await openOn(server);
    await open.redis.call('REPLICAOF', '127.0.0.1', String(server.port + 1));
    await open.redis.call('REPLICAOF', 'NO', 'ONE');
    expect(await open.table.beginEpoch('8', 1)).toBe('begun');
    expect(await open.table.openEpoch('8')).toBe('opened');
    await open.table.listOwner('8', ada);
    await expectRefused(open.table.listOwner(epoch, ada), 'other');
  });
});

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedisCluster, type RedisCluster } from '../../../test/helpers/redis-cluster.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import { describeLockTable } from '../lock-table.conformance.js';
import { ada, epoch, expectRefused, hold, TableInEpoch } from '../conformance/harness.conformance.js';
import { openRedis } from './open-redis.conformance.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.stop());

describeLockTable('redis', (options) => openRedis({ ...options, url: cluster.url }));

describe('a Cluster', () => {
  test('a namespace stays on one master, namespaces are spread over all', async () => {
    const ports = new Set<number>();
    for (let n = 0; ports.size < 3; n++) {
      const open = await openRedis({ url: cluster.url, namespace: `spread_${n}` });
      const current = await new TableInEpoch(open).begin();
      await current.enter(hold('t1', { exclusive: ['{a}', '{b}', 'c'] }));
      expect(await current.claimTasks(ada)).toEqual(['t1']);
      ports.add(open.redis.stream.remotePort!);
      await open.close();
    }
    expect(ports.size).toBe(3);
  });

  test('a slot that moves away takes the namespace along, and its epoch is refused there', async () => {
    const open = await openRedis({ url: cluster.url });
    await new TableInEpoch(open).begin();
    const slot = Number(await open.redis.call('CLUSTER', 'KEYSLOT', `{${open.namespace}}`));
    const from = open.redis.stream.remotePort!;
    const to = cluster.masters.find(({ port }) => port !== from)!;
    await moveSlot(slot, from, to.port);
    const current = async (): Promise<unknown> => (await open.table.readEpoch())?.identityHolds === false;
    await waitUntil(current, 'the table has found the other node');
    await expectRefused(open.table.listOwner(epoch, ada), 'identity');
    expect(await open.table.beginEpoch('8', 1)).toBe('begun');
    expect(await open.table.openEpoch('8')).toBe('opened');
    await open.table.listOwner('8', ada);
    await open.table.stop();
    open.disconnect();
  });
});

async function moveSlot(slot: number, from: number, to: number): Promise<void> {
  const [source, target] = [new Redis(from), new Redis(to)];
  const [sourceId, targetId] = await Promise.all(
    [source, target].map((node) => node.call('CLUSTER', 'MYID')),
  );
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId as string);
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId as string);
  const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
  for (const key of keys) await source.call('MIGRATE', '127.0.0.1', to, key, 0, 5_000);
  for (const node of [target, source])
    await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId as string);
  source.disconnect();
  target.disconnect();
}

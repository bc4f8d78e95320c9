import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedisSentinel, type RedisSentinel } from '../../../test/helpers/redis-sentinel.js';
import { waitUntil } from '../../../test/helpers/wait-until.js';
import { ada, epoch, expectRefused, hold, TableInEpoch } from '../conformance/harness.conformance.js';
import { openRedis } from './open-redis.conformance.js';

let sentinel: RedisSentinel;
beforeAll(async () => {
  sentinel = await startRedisSentinel();
});
afterAll(() => sentinel.stop());

test('a table behind Sentinels survives a fail-over, and its epoch does not', async () => {
  const open = await openRedis({ url: sentinel.url });
  const current = await new TableInEpoch(open).begin();
  await current.enter(hold('t1', { exclusive: ['a'] }));
  expect(await current.claimTasks(ada)).toEqual(['t1']);
  expect(open.redis.stream.remotePort).toBe(sentinel.master.port);

  sentinel.master.kill('SIGKILL');
  const isOnReplica = async (): Promise<boolean> => (await open.table.readEpoch())?.identityHolds === false;
  await waitUntil(isOnReplica, 'the table has found the promoted replica', 25_000);
  await expectRefused(current.release(ada, 't1'), 'identity');
  expect(await open.table.beginEpoch('8', 1)).toBe('begun');
  expect(await open.table.openEpoch('8')).toBe('opened');
  await open.table.listOwner('8', ada);
  await expectRefused(open.table.listOwner(epoch, ada), 'other');
  await open.table.stop();
  open.disconnect();
});

import { afterEach, describe, expect, test } from 'vitest';
import { sharedRedisUrl, uniqueNamespace } from '../../../test/helpers/servers.js';
import { ScriptFailed, Unavailable } from '../../errors.js';
import type { LockTable } from '../lock-table.js';
import { createRedisLockTable } from './redis-lock-table.js';
import { scriptSource } from './script-source.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A table whose script `read-epoch` is another. */
async function tableWith(readEpoch: string): Promise<LockTable> {
  const table = createRedisLockTable({
    url: sharedRedisUrl(),
    namespace: uniqueNamespace(),
    sourceOf: (name) => (name === 'read-epoch' ? readEpoch : scriptSource(name)),
  });
  await table.start();
  closing.push(() => table.stop());
  return table;
}

const errorReply = (text: string): string =>
  `return redis.error_reply('${text} script: 0a1b, on @user_script:1.')`;

describe('a script that ends in an error', () => {
  test('is told apart from a server that cannot be reached', async () => {
    const wrongType = await tableWith(
      "redis.call('SET', KEYS[1], 'x') return redis.call('HGET', KEYS[1], 'epoch')",
    );
    await expect(wrongType.readEpoch()).rejects.toThrow(ScriptFailed);
    await expect(wrongType.readEpoch()).rejects.toThrow(/read-epoch failed inside Redis: WRONGTYPE/);
    const broken = await tableWith("return redis.call('NO-SUCH-COMMAND')");
    await expect(broken.readEpoch()).rejects.toThrow(ScriptFailed);
  });

  test('is taken for an outage where the server may not be written to just now', async () => {
    for (const state of [
      'OOM',
      'READONLY',
      'MISCONF',
      'LOADING',
      'MASTERDOWN',
      'NOREPLICAS',
      'CLUSTERDOWN',
    ]) {
      const table = await tableWith(errorReply(`${state} not now.`));
      await expect(table.readEpoch(), state).rejects.toThrow(Unavailable);
    }
  });
});

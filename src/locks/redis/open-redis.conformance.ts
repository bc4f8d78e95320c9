import { Redis } from 'ioredis';
import { uniqueNamespace } from '../../../test/helpers/servers.js';
import type { OpenLockTable } from '../lock-table.conformance.js';
import { dumpRedis } from './dump-redis.conformance.js';
import { epochKey, keyNames, keyspacePrefix } from './keys.js';
import { createRedisLockTable, type RedisLockTableOptions } from './redis-lock-table.js';

export type OpenRedisOptions = Partial<RedisLockTableOptions> & { url: string };

/** A table on that server, in a namespace of its own, and a connection beside it that reads what it wrote. */
export interface OpenRedisTable extends OpenLockTable {
  namespace: string;
  redis: Redis;
  /** Removes all keys of the namespace. */
  clear(): Promise<void>;
}

export async function openRedis(options: OpenRedisOptions): Promise<OpenRedisTable> {
  const namespace = options.namespace ?? uniqueNamespace();
  const table = createRedisLockTable({ ...options, namespace });
  await table.start();
  const redis = new Redis(options.url);
  // A test may take its server away.
  redis.on('error', () => {});
  return {
    table,
    namespace,
    redis,
    dump: (epoch) => dumpRedis(redis, namespace, epoch),
    forgeIdentity: async () => void (await redis.hset(epochKey(namespace), 'identity', 'another server')),
    forgeEntering: async (epoch, task) => {
      await redis.hset(`${keyspacePrefix(namespace, epoch)}${keyNames.HOLD}${task}`, 'status', 'entering');
    },
    clear: () => removeKeys(redis, namespace),
    close: async () => {
      await table.stop();
      await removeKeys(redis, namespace);
      redis.disconnect();
    },
  };
}

async function removeKeys(redis: Redis, namespace: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `{${namespace}}:*`, count: 10_000 })) {
    if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
  }
}

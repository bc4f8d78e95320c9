import { Redis } from 'ioredis';
import { uniqueNamespace } from '../../../test/helpers/servers.js';
import type { Loss } from '../conformance/harness.conformance.js';
import type { OpenLockTable } from '../lock-table.conformance.js';
import { ownerText } from '../../owner.js';
import { silentLogger } from '../../log.js';
import { Connection } from './connection.js';
import { dumpRedis } from './dump-redis.conformance.js';
import { epochKey, keyNames, keyspacePrefix } from './keys.js';
import { parseServerUrl } from './server-url.js';
import { createRedisLockTable, type RedisLockTableOptions } from './redis-lock-table.js';

export type OpenRedisOptions = Partial<RedisLockTableOptions> & { url: string };

/** A table on that server, in a namespace of its own, and a connection beside it that reads what it wrote. */
export interface OpenRedisTable extends OpenLockTable {
  namespace: string;
  redis: Redis;
  /** Closes that connection, for a test that stops the table itself. */
  disconnect(): void;
  /** Removes all keys of the namespace. */
  clear(): Promise<void>;
}

export async function openRedis(options: OpenRedisOptions): Promise<OpenRedisTable> {
  const namespace = options.namespace ?? uniqueNamespace();
  const table = createRedisLockTable({ ...options, namespace });
  await table.start();
  const { redis, disconnect } = await connectBeside(options.url, namespace);
  return {
    table,
    namespace,
    redis,
    disconnect,
    dump: (epoch) => dumpRedis(redis, namespace, epoch),
    forgeIdentity: async () => void (await redis.hset(epochKey(namespace), 'identity', 'another server')),
    forgeEntering: async (epoch, task) => {
      await redis.hset(`${keyspacePrefix(namespace, epoch)}${keyNames.HOLD}${task}`, 'status', 'entering');
    },
    forgeLoss: async (epoch, loss) => {
      await redis.del(keyspacePrefix(namespace, epoch) + lostKey(loss));
    },
    clear: () => removeKeys(redis, namespace),
    close: async () => {
      await table.stop();
      await removeKeys(redis, namespace);
      disconnect();
    },
  };
}

function lostKey(loss: Loss): string {
  if ('hold' in loss) return keyNames.HOLD + loss.hold;
  if ('lock' in loss) return keyNames.LOCK + loss.lock;
  if ('queue' in loss) return keyNames.QUEUE + loss.queue;
  if ('ready' in loss) return keyNames.READY + loss.ready;
  return keyNames.REGISTRY + ownerText(loss.registry);
}

/** A plain connection to the server of the namespace. A test may take that server away. */
async function connectBeside(
  url: string,
  namespace: string,
): Promise<Pick<OpenRedisTable, 'redis' | 'disconnect'>> {
  if (!url.startsWith('redis+')) {
    const redis = new Redis(url);
    redis.on('error', () => {});
    return { redis, disconnect: () => redis.disconnect() };
  }
  const address = parseServerUrl(url);
  const settings = { address, key: epochKey(namespace), commandLimitMs: 5_000, log: silentLogger };
  const connection = new Connection(settings);
  await connection.connected();
  // Told by the library's own `disconnect`, it would connect again.
  return { redis: connection.redis, disconnect: () => connection.close() };
}

async function removeKeys(redis: Redis, namespace: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `{${namespace}}:*`, count: 10_000 })) {
    if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
  }
}

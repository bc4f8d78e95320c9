import { Redis } from 'ioredis';
import type { MemoryLockTable } from '../../src/locks/memory/memory-lock-table.js';
import type { Place } from './place.js';
import { compareOrder, compareReady } from '../../src/locks/memory/table-state.js';
import { SortedList } from '../../src/locks/memory/sorted-list.js';
import { keyspacePrefix } from '../../src/locks/redis/keys.js';
import { ownerText, type Owner } from '../../src/owner.js';
import { sharedRedisUrl } from '../helpers/servers.js';

/** What no operation leaves behind: put into the table, or taken out of it, past all of them. */
export type Damage =
  | { lock: string; of: string }
  | { waiter: string; of: string }
  | { ready: string; of: string }
  | { entering: string }
  | { lostHold: string }
  | { lostLock: string }
  | { lostReady: string }
  | { lostRegistry: Owner };

const place19 = '7'.padStart(19, '0');
/** Before every waiter. */
const firstOrder = 0;

export async function damage(place: Place, ...all: Damage[]): Promise<void> {
  const epoch = await place.epoch.get();
  for (const one of all) {
    if (place.kind === 'embedded') damageMemory(place.table as MemoryLockTable, epoch, one);
    else await damageRedis(keyspacePrefix(place.namespace, epoch), one);
  }
}

function damageMemory({ state }: MemoryLockTable, epoch: string, one: Damage): void {
  const space = state.keyspaces.get(epoch)!;
  if ('lock' in one) space.locks.set(one.lock, one.of);
  else if ('waiter' in one) {
    const queue = space.queues.get(one.waiter) ?? new SortedList(compareOrder);
    queue.add({ task: one.of, mode: 'exclusive', order: firstOrder });
    space.queues.set(one.waiter, queue);
  } else if ('ready' in one) {
    const ready = space.ready.get(one.ready) ?? new SortedList(compareReady);
    ready.add({ task: one.of, priority: 0, place: place19 });
    space.ready.set(one.ready, ready);
    space.lanes.add(one.ready);
  } else if ('entering' in one) space.holds.get(one.entering)!.status = 'entering';
  else if ('lostHold' in one) space.holds.delete(one.lostHold);
  else if ('lostLock' in one) space.locks.delete(one.lostLock);
  else if ('lostReady' in one) space.ready.delete(one.lostReady);
  else space.registries.delete(ownerText(one.lostRegistry));
}

async function damageRedis(prefix: string, one: Damage): Promise<void> {
  const redis = new Redis(sharedRedisUrl());
  try {
    if ('lock' in one) await redis.set(`${prefix}lock:${one.lock}`, one.of);
    else if ('waiter' in one) await redis.zadd(`${prefix}queue:${one.waiter}`, firstOrder, `x${one.of}`);
    else if ('ready' in one) {
      await redis.zadd(`${prefix}ready:${one.ready}`, 0, `${place19}:${one.of}`);
      await redis.zadd(`${prefix}lanes`, 0, one.ready);
    } else if ('entering' in one) await redis.hset(`${prefix}hold:${one.entering}`, 'status', 'entering');
    else if ('lostHold' in one) await redis.del(`${prefix}hold:${one.lostHold}`);
    else if ('lostLock' in one) await redis.del(`${prefix}lock:${one.lostLock}`);
    else if ('lostReady' in one) await redis.del(`${prefix}ready:${one.lostReady}`);
    else await redis.del(`${prefix}owner_locks:${ownerText(one.lostRegistry)}`);
  } finally {
    redis.disconnect();
  }
}

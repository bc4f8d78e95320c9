import { Redis } from 'ioredis';
import { v7 } from 'uuid';
import type { EnteringHold } from '../../src/locks/lock-table.js';
import type { Owner } from '../../src/owner.js';
import type { Place } from '../worker/place.js';
import { laneText } from '../../src/lane.js';
import { ownerText } from '../../src/owner.js';
import { cleanupLocksForWorker } from '../../src/recovery/cleanup-locks-for-worker.js';
import { reconcileOrphanLocks } from '../../src/recovery/reconcile-orphan-locks.js';
import { releaseStaleLocksForSelf } from '../../src/recovery/release-stale-locks-for-self.js';
import { newWorker } from '../store/rows.js';
import { serverPlace } from '../worker/place.js';

/** How often each command ran in Redis, those inside scripts as well. */
export type Commands = Record<string, number>;

const lane = laneText({ queue: 'default', name: 'job', needs: {} });
const holdsPerCall = 100;

/** Both, in a place of its own beside so many locks of others, in a Redis that nobody else uses. */
export async function costsBeside(
  count: number,
  url: string,
): Promise<{ costs: Record<string, Commands>; scan: Commands }> {
  const redis = new Redis(url);
  await redis.flushall();
  const place = await serverPlace({ redisUrl: url });
  try {
    await holdMany(place, count);
    // The scripts are known from the first run on.
    await costsOfCleanUp(place, redis);
    return { costs: await costsOfCleanUp(place, redis), scan: await costOfScan(redis) };
  } finally {
    await place.close();
    redis.disconnect();
  }
}

/** Enters holds of one resource each, all of one owner that lives. */
async function holdMany(place: Place, count: number): Promise<void> {
  const { incarnation } = await place.store.registerWorker(newWorker({ name: 'other' }));
  const owner = { name: 'other', incarnation };
  const epoch = await place.epoch.get();
  await place.table.listOwner(epoch, owner);
  for (let done = 0; done < count; done += holdsPerCall) {
    const holds = Array.from({ length: Math.min(holdsPerCall, count - done) }, (_, n) => ({
      ...hold(),
      exclusive: [`other:${done + n}`],
    }));
    await place.table.enterNow(epoch, owner, holds);
  }
}

/** By path: what it costs Redis to clean up after a dead owner with 5 holds. */
async function costsOfCleanUp(place: Place, redis: Redis): Promise<Record<string, Commands>> {
  const costs: Record<string, Commands> = {};
  const count = async (path: string, work: () => Promise<unknown>): Promise<void> => {
    await redis.config('RESETSTAT');
    await work();
    costs[path] = await commands(redis);
  };
  const successor = { name: 'dead', incarnation: '1000000000' };
  const isDead = (): Promise<boolean> => Promise.resolve(true);
  const missing = await deadOwner(place, 'reaped');
  await count('a missing worker', () => cleanupLocksForWorker(place, missing));
  await deadOwner(place, 'silent');
  await count('a predecessor', () => releaseStaleLocksForSelf(place, successor, isDead));
  await count('a new name', () => releaseStaleLocksForSelf(place, { ...successor, name: 'new' }, isDead));
  const orphan = await deadOwner(place, 'gone');
  // Seen for long enough.
  const sightings = new Map([[ownerText(orphan), -Infinity]]);
  await count('an orphan', () => reconcileOrphanLocks(place, sightings));
  return costs;
}

/** What a scan of all keys costs: the control, which must be seen to grow. */
async function costOfScan(redis: Redis): Promise<Commands> {
  await redis.config('RESETSTAT');
  for await (const _keys of redis.scanStream({ match: 'nothing', count: 1_000 }));
  return commands(redis);
}

async function deadOwner(place: Place, row: 'reaped' | 'silent' | 'gone'): Promise<Owner> {
  const { store, table } = place;
  const { incarnation } = await store.registerWorker(newWorker({ name: 'dead' }));
  const owner = { name: 'dead', incarnation };
  const epoch = await place.epoch.get();
  await table.listOwner(epoch, owner);
  const holds = Array.from({ length: 5 }, (_, n) => ({
    ...hold(),
    exclusive: [`r:${n}`],
    shared: ['store'],
  }));
  await table.enterNow(epoch, owner, holds);
  if (row === 'reaped') await store.reapWorker(incarnation);
  if (row === 'gone') await store.removeWorker(incarnation);
  return owner;
}

function hold(): EnteringHold {
  return { task: v7(), entry: 1, lane, priority: 0, place: '1', exclusive: [], shared: [] };
}

async function commands(redis: Redis): Promise<Commands> {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_(\S+):calls=(\d+)/gm);
  const counted = [...lines].map(([, name = '', calls]): [string, number] => [name, Number(calls)]);
  // Those of the counting itself, and of clients that connect or wait meanwhile.
  const others = /^(?:config|info|hello|client|blmpop|blpop|brpop|ping|select|subscribe|publish)/;
  return Object.fromEntries(counted.filter(([name]) => !others.test(name)));
}

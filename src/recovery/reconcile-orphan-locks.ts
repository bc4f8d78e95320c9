import type { Owner } from '../owner.js';
import type { Recovery } from './recovery.js';
import { ownerText } from '../owner.js';
import { cleanupLocksForWorker } from './cleanup-locks-for-worker.js';
import { collectLockOwners } from './collect-lock-owners.js';

/** How many one pass cleans up at most; the next takes the others. */
const orphansPerPass = 20;

/** Since when each owner has been seen without a row. */
export type OrphanSightings = Map<string, number>;

/**
 * One observation of the owners that are listed and have no row: those seen so for `ttlMs` are cleaned up. One whose
 * row is late to beat is none, and whoever registers has its row before it is listed. A worker whose row was deleted
 * finds that out by its next beat, long before. Resolves with those that are clean; rejects where the stores cannot be
 * asked, after which sightings prove nothing.
 */
export async function reconcileOrphanLocks(
  recovery: Recovery,
  sightings: OrphanSightings,
  ttlMs: number,
): Promise<Owner[]> {
  const due = await orphansSeenFor(recovery, sightings, ttlMs);
  const clean: Owner[] = [];
  for (const owner of due.slice(0, orphansPerPass)) {
    if (await cleanupLocksForWorker(recovery, owner)) clean.push(owner);
  }
  return clean;
}

async function orphansSeenFor(
  recovery: Recovery,
  sightings: OrphanSightings,
  ttlMs: number,
): Promise<Owner[]> {
  // The table first: the other way round, one that registers between the two would look like an orphan.
  const owners = await collectLockOwners(recovery);
  const known = new Set(await recovery.store.workersAmong(owners.map(({ incarnation }) => incarnation)));
  const now = performance.now();
  const before = new Map(sightings);
  sightings.clear();
  for (const owner of owners.filter(({ incarnation }) => !known.has(incarnation))) {
    const text = ownerText(owner);
    sightings.set(text, before.get(text) ?? now);
  }
  return owners.filter((owner) => now - (sightings.get(ownerText(owner)) ?? now) >= ttlMs);
}

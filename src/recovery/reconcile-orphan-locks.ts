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
 * One observation of the owners that are listed and have no row: those seen so for a TTL are cleaned up. Nobody knows any
 * more which TTL was theirs, so it is the longest that the namespace has seen: until that is over, one whose row was
 * deleted may still work, and then it has found that out. Who registers has its row before it is listed. Resolves with
 * those that are clean; rejects where the stores cannot be asked, and what was seen before proves nothing then.
 */
export async function reconcileOrphanLocks(recovery: Recovery, sightings: OrphanSightings): Promise<Owner[]> {
  const seen = new Map(sightings);
  sightings.clear();
  const orphans = await findOrphans(recovery);
  if (orphans.length === 0) return [];
  const longestTtlMs = await recovery.store.longestTtlMs();
  const now = performance.now();
  for (const text of orphans.map(ownerText)) sightings.set(text, seen.get(text) ?? now);
  const due = orphans.filter((owner) => now - (sightings.get(ownerText(owner)) ?? now) >= longestTtlMs);
  const clean: Owner[] = [];
  for (const owner of due.slice(0, orphansPerPass)) {
    if (await cleanupLocksForWorker(recovery, owner)) clean.push(owner);
    // It makes room for others in the next pass.
    else if (due.length > orphansPerPass) sightings.set(ownerText(owner), performance.now());
  }
  return clean;
}

async function findOrphans(recovery: Recovery): Promise<Owner[]> {
  // The table first: the other way round, one that registers between the two would look like an orphan.
  const owners = await collectLockOwners(recovery);
  const known = new Set(await recovery.store.workersAmong(owners.map(({ incarnation }) => incarnation)));
  return owners.filter(({ incarnation }) => !known.has(incarnation));
}

import type { Owner } from '../owner.js';
import type { NamedWorker } from '../store/lost-workers.js';
import type { Recovery } from './recovery.js';
import { cleanupLocksForWorker } from './cleanup-locks-for-worker.js';
import { collectLockOwners } from './collect-lock-owners.js';

/**
 * Cleans up after earlier incarnations of one's own name that are reaped, have no row, or are dead by `isDead`. A
 * namesake that may live is left alone. A new name costs one call of each store. Resolves with whether nothing is left
 * to do; rejects where the stores cannot be asked.
 */
export async function releaseStaleLocksForSelf(
  recovery: Recovery,
  self: Owner,
  isDead: (worker: NamedWorker) => Promise<boolean>,
): Promise<boolean> {
  const { store } = recovery;
  // The table first: an owner is listed after its row is there.
  const listed = await collectLockOwners(recovery, { name: self.name });
  const rows = new Map((await store.workersNamed(self.name)).map((row) => [row.incarnation, row]));
  const earlier = [...new Set([...listed.map(({ incarnation }) => incarnation), ...rows.keys()])].filter(
    (each) => BigInt(each) < BigInt(self.incarnation),
  );
  let done = true;
  for (const incarnation of earlier) {
    const row = rows.get(incarnation);
    if (row !== undefined && !row.reaped) {
      if (!(await isDead(row))) continue;
      if ((await store.reapWorker(incarnation, row.counter)) === 'alive') continue;
    }
    done = (await cleanupLocksForWorker(recovery, { name: self.name, incarnation })) && done;
  }
  return done;
}

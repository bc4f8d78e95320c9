import type { Owner } from '../owner.js';
import type { NamedWorker } from '../store/lost-workers.js';
import type { Recovery } from './recovery.js';
import { faultPoint } from '../fault-points.js';
import { Unavailable } from '../errors.js';
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
    const clean = await cleanUpUnlessAlive(recovery, { name: self.name, incarnation }, rows, isDead);
    done = clean && done;
  }
  return done;
}

/** G5: only an outage stops the clean-up of the others. */
async function cleanUpUnlessAlive(
  recovery: Recovery,
  earlier: Owner,
  rows: ReadonlyMap<string, NamedWorker>,
  isDead: (worker: NamedWorker) => Promise<boolean>,
): Promise<boolean> {
  const row = rows.get(earlier.incarnation);
  try {
    if (row !== undefined && !row.reaped) {
      if (!(await isDead(row))) return true;
      if ((await recovery.store.reapWorker(row.incarnation, row.counter)) === 'alive') return true;
      faultPoint('predecessor-reaped');
    }
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    recovery.log.error({ err: error, earlier }, 'an earlier incarnation could not be declared dead');
    return false;
  }
  return cleanupLocksForWorker(recovery, earlier);
}

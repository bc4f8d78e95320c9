import { livenessOf } from './liveness.js';
import { releaseEach } from './lock-pages.js';
import type { Pulp } from './open-pulp.js';
import { addFindings, failedCleanup, newCleanup, type OwnerCleanup } from './owner-cleanup.js';
import { findPredecessorLocks } from './predecessor-locks.js';

export interface PredecessorCleanup extends OwnerCleanup {
  /** Locks that were named and are not a predecessor's, now at least. */
  refused: string[];
}

/**
 * Releases, lock by lock, what a predecessor left under the name of a live process. Each must be named, and is
 * looked at anew: the present process may have taken it meanwhile. The owner stays listed, as it is alive.
 */
export async function releasePredecessorLocks(
  pulp: Pulp,
  owner: string,
  named: string[],
): Promise<PredecessorCleanup> {
  const cleanup = newCleanup(owner);
  try {
    cleanup.liveness = livenessOf(await pulp.database.processes(owner));
    const left = new Set((await findPredecessorLocks(pulp, owner)).map(({ key }) => key));
    const refused = named.filter((key) => !left.has(key));
    const locks = named.filter((key) => left.has(key));
    for await (const findings of releaseEach(pulp, owner, locks)) addFindings(cleanup, findings);
    return { ...cleanup, refused, done: refused.length === 0 };
  } catch (error) {
    return { ...failedCleanup(cleanup, error), refused: [] };
  }
}

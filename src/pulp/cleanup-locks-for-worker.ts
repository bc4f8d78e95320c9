import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import type { LegacyScan } from './legacy-scan.js';
import { livenessOf } from './liveness.js';
import type { Pulp } from './open-pulp.js';
import { failedCleanup, newCleanup, type OwnerCleanup, sparedCleanup } from './owner-cleanup.js';

/**
 * Releases the locks of a process that is gone. Locks are held by its name alone, so that a live process of the same
 * name keeps them: which of them are whose, Redis does not tell.
 */
export async function cleanupLocksForWorker(
  pulp: Pulp,
  name: string,
  scan: LegacyScan | null = null,
): Promise<OwnerCleanup> {
  try {
    const liveness = livenessOf(await pulp.database.processes(name));
    if (liveness === 'live') return sparedCleanup(name, liveness);
    return { ...(await cleanupLocksForOwner(pulp, name, scan)), liveness };
  } catch (error) {
    return failedCleanup(newCleanup(name), error);
  }
}

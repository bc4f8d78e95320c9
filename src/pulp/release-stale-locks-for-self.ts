import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import { activeOwnersKey } from './keys.js';
import { LegacyScan } from './legacy-scan.js';
import { isOnline } from './liveness.js';
import type { Pulp } from './open-pulp.js';
import { failedCleanup, newCleanup, type OwnerCleanup, sparedCleanup } from './owner-cleanup.js';

/** A process that starts. */
export interface Self {
  name: string;
  /** Its row, where it has one already. */
  id?: string;
}

/**
 * Releases what earlier processes of the same name have left, before this one takes its first lock; later it would
 * release its own. A namesake that was heard of within its TTL keeps everything. A name that nobody has had before
 * has left nothing, and costs no scan.
 */
export async function releaseStaleLocksForSelf(
  pulp: Pulp,
  self: Self,
  allowScan: boolean = false,
): Promise<OwnerCleanup> {
  try {
    const others = (await pulp.database.processes(self.name)).filter(({ id }) => id !== self.id);
    if (others.some(isOnline)) return sparedCleanup(self.name, 'live');
    const known = others.length > 0 || (await pulp.redis.isMember(activeOwnersKey, self.name));
    const scan = allowScan && known ? new LegacyScan(pulp, (owner) => owner === self.name) : null;
    return await cleanupLocksForOwner(pulp, self.name, scan);
  } catch (error) {
    return failedCleanup(newCleanup(self.name), error);
  }
}

import { type CleanUp, cleanUpOwners } from './clean-up-owners.js';
import type { Pulp } from './open-pulp.js';

/**
 * Releases the locks of owners that have no row in `core_appstatus` at all. A row whose heartbeats are late is no
 * orphan: its process may be alive, and kept from them by a busy database.
 */
export async function reconcileOrphanLocks(pulp: Pulp, allowScan: boolean = false): Promise<CleanUp> {
  return await cleanUpOwners(pulp, ['orphan'], allowScan);
}

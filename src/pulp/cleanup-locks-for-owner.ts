import type { LegacyScan } from './legacy-scan.js';
import type { Pulp } from './open-pulp.js';
import { releaseEach, releaseRegistered } from './lock-pages.js';
import { addFindings, failedCleanup, newCleanup, type OwnerCleanup } from './owner-cleanup.js';
import { dropOwner } from './scripts.js';

/**
 * Releases the locks of an owner, whoever it is: that it is dead is for the caller to know. A registry leads to its
 * locks, and nothing else is touched; without one they are found by the scan alone, where there is one. It never
 * throws: `retry` tells whether the same call may do later what this one could not. It can be run again at any time.
 */
export async function cleanupLocksForOwner(
  pulp: Pulp,
  owner: string,
  scan: LegacyScan | null = null,
): Promise<OwnerCleanup> {
  const cleanup = newCleanup(owner);
  try {
    let registered = false;
    for await (const findings of releaseRegistered(pulp, owner)) {
      registered = true;
      addFindings(cleanup, findings);
    }
    const scanned = scan !== null && (!registered || scan.state === 'done') ? await scan.owners() : undefined;
    if (scanned === null) return { ...cleanup, retry: true };
    const { tasks = [], resources = [] } = scanned?.get(owner) ?? {};
    const known = new Set([...cleanup.released, ...cleanup.unexpected.map(({ key }) => key)]);
    const others = [...tasks, ...resources].filter((key) => !known.has(key));
    for await (const findings of releaseEach(pulp, owner, others)) addFindings(cleanup, findings);
    if (cleanup.unexpected.length > 0) return cleanup;
    return { ...cleanup, unlisted: await pulp.redis.run(dropOwner(owner, pulp.mode)), done: true };
  } catch (error) {
    return failedCleanup(cleanup, error);
  }
}

import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import { collectLockOwners } from './collect-lock-owners.js';
import { LegacyScan } from './legacy-scan.js';
import { type Liveness, livenessOf, type ProcessRow } from './liveness.js';
import type { Pulp } from './open-pulp.js';
import { failedCleanup, newCleanup, type OwnerCleanup, sparedCleanup } from './owner-cleanup.js';

export interface CleanUp {
  owners: OwnerCleanup[];
  /** That may be dead, but were not to be cleaned up. */
  spared: { owner: string; liveness: Liveness }[];
  scan: LegacyScan | null;
  foreign: string[];
}

/** Releases the locks of all owners with one of these `fates`. What fails for one does not keep it from the rest. */
export async function cleanUpOwners(pulp: Pulp, fates: Liveness[], allowScan: boolean): Promise<CleanUp> {
  const rows = groupByName(await pulp.database.processes());
  const fateOf = (owner: string): Liveness => livenessOf(rows.get(owner) ?? []);
  const scan = allowScan ? new LegacyScan(pulp, (owner) => fateOf(owner) !== 'live') : null;
  const collected = await collectLockOwners(pulp, scan);
  const owners: OwnerCleanup[] = [];
  const spared: CleanUp['spared'] = [];
  for (const owner of collected.owners) {
    const liveness = fateOf(owner);
    if (fates.includes(liveness)) owners.push(await cleanUpIfStill(pulp, owner, fates, scan));
    else if (liveness !== 'live') spared.push({ owner, liveness });
  }
  return { owners, spared, scan, foreign: collected.foreign };
}

/** A process may have come back under the name since the owners were collected. */
async function cleanUpIfStill(
  pulp: Pulp,
  owner: string,
  fates: Liveness[],
  scan: LegacyScan | null,
): Promise<OwnerCleanup> {
  try {
    const liveness = livenessOf(await pulp.database.processes(owner));
    if (!fates.includes(liveness)) return sparedCleanup(owner, liveness);
    return { ...(await cleanupLocksForOwner(pulp, owner, scan)), liveness };
  } catch (error) {
    return failedCleanup(newCleanup(owner), error);
  }
}

export function groupByName(rows: ProcessRow[]): Map<string, ProcessRow[]> {
  const groups = new Map<string, ProcessRow[]>();
  for (const row of rows) {
    const group = groups.get(row.name);
    if (group === undefined) groups.set(row.name, [row]);
    else group.push(row);
  }
  return groups;
}

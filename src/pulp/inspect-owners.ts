import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import { groupByName } from './clean-up-owners.js';
import { collectLockOwners } from './collect-lock-owners.js';
import { LegacyScan } from './legacy-scan.js';
import { type Liveness, livenessOf, type ProcessRow } from './liveness.js';
import type { Pulp } from './open-pulp.js';
import { findPredecessorLocks, type PredecessorLock } from './predecessor-locks.js';

export interface OwnerInspection {
  owner: string;
  /** `unknown` without Pulp's PostgreSQL. */
  liveness: Liveness | 'unknown';
  /** Its rows in `core_appstatus`, the latest heartbeat first. */
  processes: ProcessRow[];
  /** The keys of the locks that it holds. */
  holds: string[];
  /** Entries of its registry that are no locks of its any more. */
  gone: string[];
  retaken: string[];
  unexpected: { key: string; type: string }[];
  /** Of those it holds, what an earlier process of the same name has left; only where it is live. */
  predecessor: PredecessorLock[];
  error: string | null;
}

export interface Inspection {
  owners: OwnerInspection[];
  scan: LegacyScan | null;
  foreign: string[];
}

/** Who may hold locks, whether they are alive, and what they hold. Writes nothing. */
export async function inspectOwners(given: Pulp, allowScan: boolean = false): Promise<Inspection> {
  const pulp: Pulp = { ...given, mode: 'look' };
  const scan = allowScan ? new LegacyScan(pulp, () => true) : null;
  const { owners, foreign } = await collectLockOwners(pulp, scan);
  const rows = groupByName(pulp.database.known ? await pulp.database.processes() : []);
  const inspections: OwnerInspection[] = [];
  for (const owner of owners) inspections.push(await inspectOwner(pulp, owner, rows.get(owner) ?? [], scan));
  return { owners: inspections, scan, foreign };
}

async function inspectOwner(
  pulp: Pulp,
  owner: string,
  processes: ProcessRow[],
  scan: LegacyScan | null,
): Promise<OwnerInspection> {
  const seen = await cleanupLocksForOwner(pulp, owner, scan);
  const liveness: OwnerInspection['liveness'] = pulp.database.known ? livenessOf(processes) : 'unknown';
  const { released: holds, gone, retaken, unexpected } = seen;
  const found = { owner, liveness, processes, holds, gone, retaken, unexpected };
  if (seen.error !== null || liveness !== 'live') return { ...found, predecessor: [], error: seen.error };
  try {
    return { ...found, predecessor: await findPredecessorLocks(pulp, owner), error: null };
  } catch (error) {
    return { ...found, predecessor: [], error: error instanceof Error ? error.message : String(error) };
  }
}

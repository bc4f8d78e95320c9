import type { TableFault } from '../locks/table-audit.js';
import type { Owner } from '../owner.js';

/** What an audit can find. docs/guides/recovery.md tells what each means. */
export type FindingKind =
  | 'hold-of-settled-task'
  | 'hold-without-task'
  | 'hold-of-earlier-entry'
  | 'hold-of-unknown-entry'
  | 'hold-not-admitted'
  | 'hold-unfinished'
  | 'hold-unregistered'
  | 'hold-not-ready'
  | 'hold-lacks-resource'
  | 'lock-without-hold'
  | 'queue-place-without-hold'
  | 'queue-stalled'
  | 'ready-place-without-hold'
  | 'waits-without-hold'
  | 'registry-entry-without-hold'
  | 'owner-without-worker'
  | 'task-without-hold'
  | 'running-without-hold'
  | 'rollback-without-hold';

export interface Finding {
  kind: FindingKind;
  /** null where it is of no task. */
  task: string | null;
  /** That of the hold, or where there is none that of the task; null where neither tells. */
  entry: number | null;
  resource: string | null;
  lane: string | null;
  /** Who has the hold. */
  owner: Owner | null;
  /** Since when the hold is as it is; null where nothing tells. */
  since: string | null;
  /** Whether this audit has mended it. */
  repaired: boolean;
}

/** A finding that may still turn out to be on its way from one state to another. */
export interface Suspect extends Omit<Finding, 'repaired'> {
  /** Where it was seen in a place of the table. */
  fault: TableFault | null;
}

export function suspect(kind: FindingKind, given: Partial<Suspect> = {}): Suspect {
  const nothing = { task: null, entry: null, resource: null, lane: null, owner: null, since: null };
  return { kind, ...nothing, fault: null, ...given };
}

/** Equal for what is the same thing in the same state, seen again. */
export function suspectKey({ kind, task, entry, resource, lane, owner, fault }: Suspect): string {
  const { incarnation = null } = owner ?? {};
  return JSON.stringify([kind, task, entry, resource, lane, incarnation, fault?.member ?? null]);
}

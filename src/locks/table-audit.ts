import type { Owner } from '../owner.js';
import type { HoldStatus, OwnedHold } from './lock-table.js';

/** What an audit asks of a lock table, and the repairs that no other operation makes. */
export interface TableAudit {
  /**
   * A page of what the table has: the lanes that are listed, or with `all` every name, found by SCAN. In no order;
   * a name may come twice. Never refused: the epoch only names the keys.
   */
  findNames(epoch: string, find: { of: 'lanes' | 'all'; cursor: string | null }): Promise<NamePage>;
  /** The holds of these tasks, each with the first thing that it lacks. */
  examineHolds(epoch: string, tasks: string[]): Promise<ExaminedHold[]>;
  /** A page of what leads to no hold in one place of the table, in order of `member`. */
  findFaults(epoch: string, of: FaultPlace & { cursor: string | null }): Promise<FaultPage>;
  /** Removes what leads to no hold still, and hands on what it kept from others. */
  mendFaults(epoch: string, faults: TableFault[]): Promise<MendAnswer[]>;
  /** Puts holds into the registry of the very owner that has them, and lists it. */
  registerHolds(epoch: string, holds: OwnedHold[]): Promise<RegisterAnswer[]>;
  /** Whether `taker` has the turn now: whoever takes it keeps it from all others for so long, dead or alive. */
  takeTurn(turn: string, taker: string, forMs: number): Promise<boolean>;
}

export interface TableName {
  kind: 'hold' | 'waits' | 'lock' | 'queue' | 'ready' | 'registry';
  /** The task, resource, lane or owner text. */
  name: string;
}

export interface NamePage {
  names: TableName[];
  next: string | null;
}

/** The lock or queue of a resource, the ready holds of a lane, or what a task waits for. */
export interface FaultPlace {
  place: 'lock' | 'queue' | 'ready' | 'waits';
  name: string;
}

/**
 * What stands in a place and leads to no hold. `stalled`: it leads to one, is the head of its queue, and nothing blocks
 * it: whoever was to promote it died.
 */
export interface TableFault extends FaultPlace {
  /** As the place has it: see README.md, "Keys". */
  member: string;
  task: string;
  stalled: boolean;
}

export interface FaultPage {
  faults: TableFault[];
  next: string | null;
}

/** `sound`: it leads to a hold by now. */
export type MendAnswer = 'mended' | 'gone' | 'sound';
export type RegisterAnswer = 'registered' | 'gone' | 'stale';

/**
 * `entering`: a call died half-way. `unregistered`: the clean-up of its owner would not find it. `not-ready`: no worker
 * can take it. `lacks`: it neither has the resource nor waits for it as its status tells; '' where it waits for nothing
 * and was not granted.
 */
export type HoldFault =
  | { fault: 'entering' | 'unregistered' | 'not-ready' }
  | { fault: 'lacks'; resource: string };

export interface ExaminedHold {
  task: string;
  /** null: there is none. */
  hold: { entry: number; status: HoldStatus; owner: Owner | null; since: string } | null;
  fault: HoldFault | null;
}

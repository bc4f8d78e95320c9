import type { Owner } from '../owner.js';
import type { Mode, Resources } from '../resources.js';
import type { HoldName } from './hold-text.js';
import type { TableAudit } from './table-audit.js';

/**
 * The port of the lock table. README.md beside this file gives the protocol; memory/ is its executable
 * specification. Every operation takes the epoch that its caller works in and throws EpochRefused, having done
 * nothing, unless that epoch is open on this very server.
 */
export interface LockTable extends TableAudit {
  readonly kind: 'redis' | 'memory';
  /** Where it is, without secrets: recorded in the namespace, so that two processes cannot use two tables. */
  readonly address: string;

  /** Connects and verifies the server. Throws Unavailable or UnsafeServer. */
  start(): Promise<void>;
  /** Idempotent and bounded in time. */
  stop(): Promise<void>;

  /** The epoch record, whatever its state, or null on an empty server. Never throws EpochRefused. */
  readEpoch(): Promise<EpochRecord | null>;
  /** Starts the keyspace of a new epoch as `building`. Every older epoch is refused from here on. */
  beginEpoch(epoch: string, format: number): Promise<'begun' | 'not-newer'>;
  /** Enters holds while the epoch is being built: owned ones as owned, the others as granted. */
  enterBuilding(epoch: string, holds: BuildingHold[]): Promise<BuildingAnswer[]>;
  openEpoch(epoch: string): Promise<'opened' | 'not-building'>;
  /** Unlinks the keys of epochs before this one, in the background; throttled SCAN. Returns how many keys. */
  unlinkEpochsBefore(epoch: string): Promise<number>;

  /** Enters the holds of waiting tasks, in the order given. `pass` numbers the admission pass. */
  enter(epoch: string, pass: string, holds: EnteringHold[]): Promise<EnterAnswer[] | 'older-pass'>;
  /** Enters each hold as owned, now or not at all: never past a queue. The owner must be listed. */
  enterNow(epoch: string, owner: Owner, holds: EnteringHold[]): Promise<EnterNowAnswer[] | 'unlisted'>;
  /** Takes up to `limit` granted holds from `lanes`, best priority first, then by place. */
  claim(epoch: string, request: ClaimRequest): Promise<ClaimAnswer | 'unlisted'>;
  /** Moves owned holds to their tasks' next entry, unowned, granted, at their place: the end of a give-back. */
  move(epoch: string, moves: Move[]): Promise<MoveAnswer[]>;
  release(epoch: string, holds: OwnedHold[]): Promise<ReleaseAnswer[]>;
  /**
   * Takes out holds that nobody owns, out of queues, locks and lanes: those of the entry given, or of an earlier one,
   * which cannot be claimed any more. `stale`: a later entry is there, and so nothing of this one. With the number of a
   * pass, no older one enters anything from here on: what it sent may come late.
   */
  takeOut(epoch: string, holds: { task: string; entry: number }[], pass?: string): Promise<TakeOutAnswer[]>;
  /** Continues promotions that a bounded call left marked. Returns how many resources are still marked. */
  continuePromotions(epoch: string): Promise<number>;

  listOwner(epoch: string, owner: Owner): Promise<void>;
  unlistOwner(epoch: string, owner: Owner): Promise<'unlisted' | 'still-holds'>;
  /** Listed owners in order of their text; of one name, or of all whose text starts with a prefix. */
  findOwners(epoch: string, find: FindOwners): Promise<Owner[]>;
  /** A page of an owner's registry, in order of task id. `after` is the last task of the page before. */
  readRegistry(epoch: string, owner: Owner, page: Page): Promise<RegistryEntry[]>;

  inspectLocks(epoch: string, resources: string[], waitersEach: number): Promise<LockView[]>;
  inspectHold(epoch: string, task: string): Promise<HoldView | null>;

  /** A hint that admission has work. Wakes at most one process that waits. Never throws for an outage. */
  wakeAdmission(): Promise<void>;
  /**
   * Waits until there may be something to do: `admission`, or `claim` for one of the lanes, or `timeout`.
   * Only a hint. Resolves with `timeout` soon after `signal` aborts or the server goes away.
   */
  waitForWake(epoch: string, lanes: string[], timeoutMs: number, signal: AbortSignal): Promise<Wake>;
  /** Tells every process that listens that these tasks have settled. A hint; never throws for an outage. */
  announceSettled(tasks: string[]): Promise<void>;
  /** Calls `listener` for tasks announced from now on, until the returned function is called. */
  onSettled(listener: (tasks: string[]) => void): () => void;
  /** The same for tasks that are to be stopped where they run with these entries: told late, it stops no later one. */
  announceCanceling(holds: HoldName[]): Promise<void>;
  onCanceling(listener: (holds: HoldName[]) => void): () => void;
}

/** The table at hand is not the one that the caller works in: another epoch, another server, or none. */
export class EpochRefused extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, epoch: string) {
    super(`Epoch ${epoch} of the lock table was refused: ${reason}.`);
    this.name = 'EpochRefused';
    this.reason = reason;
  }
}

/** `none`: no epoch there; `other`: another number; `building`: not open yet; `identity`: another server. */
export type RefusalReason = 'none' | 'other' | 'building' | 'identity';

export interface EpochRecord {
  /** A decimal string. */
  epoch: string;
  /** The lowest protocol format among the processes that use it. */
  format: number;
  status: 'building' | 'open';
  /** The server that the epoch was built on. */
  identity: string;
  /** Whether that is the server that answered. */
  identityHolds: boolean;
}

export type HoldStatus = 'entering' | 'queued' | 'granted' | 'owned';

/** One (task, entry) with all its resources, normalised (see normalizeResources). */
export interface EnteringHold extends Resources {
  task: string;
  entry: number;
  lane: string;
  /** Larger goes first among granted holds; −32768 … 32767. Never past the queue of a resource. */
  priority: number;
  /** A decimal string from the store's sequence: the order among holds of one priority. */
  place: string;
}

export interface BuildingHold extends EnteringHold {
  /** null: granted, for any worker of the lane to take. */
  owner: Owner | null;
  fence: string | null;
}

export type BuildingAnswer = { status: 'entered' } | { status: 'conflict'; resource: string };

/**
 * `entered`: granted or queued now. `already`: this entry is in the table. `busy`: an older entry is still
 * there, and its release wakes admission. `newer`: a newer entry is there.
 */
export type EnterAnswer =
  | { status: 'entered'; granted: boolean }
  | { status: 'already' }
  | { status: 'busy' }
  | { status: 'newer' };

/** `present`: some entry of the task is in the table already. `blocked` names the first resource not free. */
export type EnterNowAnswer =
  | { status: 'owned'; fence: string }
  | { status: 'blocked'; resource: string }
  | { status: 'present' };

export interface ClaimRequest {
  owner: Owner;
  /** Lane texts that the owner can serve. */
  lanes: string[];
  limit: number;
  /** The `lanesVersion` of the last answer, or null: lanes are sent only when they changed since. */
  lanesVersion: string | null;
}

export interface ClaimedHold {
  task: string;
  entry: number;
  fence: string;
}

export interface ClaimAnswer {
  holds: ClaimedHold[];
  lanesVersion: string;
  /** The lanes that have granted holds, sorted; null where `lanesVersion` is the one that was sent. */
  lanes: string[] | null;
}

export interface OwnedHold {
  task: string;
  entry: number;
  owner: Owner;
}

export interface Move extends OwnedHold {
  nextEntry: number;
}

/**
 * `stale`: the hold is of another entry or owner (for a take-out: of a later entry), and was left alone. `gone`: there
 * is no hold.
 */
export type MoveAnswer = 'moved' | 'gone' | 'stale';
export type ReleaseAnswer = 'released' | 'gone' | 'stale';
export type TakeOutAnswer = 'taken-out' | 'gone' | 'stale' | 'owned';

export interface Page {
  after: string | null;
  limit: number;
}

export interface FindOwners extends Page {
  /** Exactly this name, all incarnations. */
  name?: string;
  /** Every owner whose text starts so. Without `name` and `prefix`: all. */
  prefix?: string;
}

export interface RegistryEntry {
  task: string;
  /** null: the registry names a task that has no hold owned by this owner (a script that died half-way). */
  entry: number | null;
  fence: string | null;
}

export interface LockView {
  resource: string;
  mode: Mode | null;
  /** At most 1,000. */
  holders: { task: string; entry: number; owner: Owner | null; fence: string | null; since: string }[];
  /** The first waiters in order; `position` counts from 1. */
  waiting: { task: string; mode: Mode; position: number }[];
  waitingCount: number;
}

export interface HoldView {
  task: string;
  entry: number;
  status: HoldStatus;
  owner: Owner | null;
  fence: string | null;
  lane: string;
  priority: number;
  place: string;
  exclusive: string[];
  shared: string[];
  /** What it still waits for, with its place in that queue (from 1). At most 1,000. */
  waitsFor: { resource: string; mode: Mode; position: number }[];
  enteredAt: string;
  grantedAt: string | null;
  ownedAt: string | null;
}

export type Wake = 'admission' | 'claim' | 'timeout';

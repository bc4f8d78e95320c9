import type { TaskEntry } from './store.js';
import type { WorkerRow } from './worker-row.js';

/** What the store answers and changes where workers die. Whatever settles does so for the reaped, and the unknown, only. */
export interface LostWorkers {
  /** Every worker, in order of incarnation, with what tells whether it lives. */
  observeWorkers(): Promise<ObservedWorker[]>;
  /** Every worker of that name, in order of incarnation. */
  workersNamed(name: string): Promise<NamedWorker[]>;
  /** Those of these incarnations that have a row. */
  workersAmong(incarnations: string[]): Promise<string[]>;
  /** The longest TTL that any worker of the namespace has had, in milliseconds; 0 where there was none. */
  longestTtlMs(): Promise<number>;
  /**
   * Marks the worker dead for good; waits for its claims and finishes under way. With a counter, only where the worker
   * has not beaten since: `alive` otherwise. `already`: somebody else has reaped it.
   */
  reapWorker(incarnation: string, counter?: string): Promise<'reaped' | 'already' | 'alive' | 'gone'>;
  /** Settles running-like tasks, each by its policy; their outcomes are in order. Waits for nobody who keeps one locked. */
  settleLostTasks(worker: string, tasks: TaskEntry[]): Promise<LostTaskOutcome[]>;
  /**
   * Deletes the ad-hoc locks of a requester; of those that wait, admission takes the holds out. Returns the others,
   * whose holds are to be released.
   */
  settleLostLocks(requester: string): Promise<string[] | 'refused'>;
  /** What becomes of holds of that worker, in order; gives back what waits with the very entry of its hold. */
  settleLostHolds(worker: string, holds: TaskEntry[]): Promise<LostHoldOutcome[] | 'refused'>;
}

export interface ObservedWorker {
  incarnation: string;
  name: string;
  counter: string;
  ttlMs: number;
  reaped: boolean;
}

export type NamedWorker = Pick<WorkerRow, 'incarnation' | 'pid' | 'identity' | 'counter' | 'reaped'>;

export type LostTaskOutcome =
  /** It waits with that entry, or rolls back with it: its hold goes on under that. */
  | { outcome: 'given-back'; nextEntry: number }
  /** It is in a final state. */
  | { outcome: 'settled' }
  /** Somebody else keeps its row locked: it is not settled yet. */
  | { outcome: 'locked' }
  | { outcome: 'refused' };

/**
 * The entry under which the hold goes on; or `over`; or `unsettled`: its task must be settled first; or `later`: the
 * task went on with a later entry, and the hold itself tells whether it is the one that went on.
 */
export type LostHoldOutcome = number | 'over' | 'unsettled' | 'later';

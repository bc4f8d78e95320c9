import type { Owner } from '../owner.js';

/** How one attempt of a task ended, or the roll-back after it. */
export interface AttemptRecord {
  /** Counts from 1. One that was given back is not counted: the next has its number again. */
  attempt: number;
  startedAt: string | null;
  endedAt: string;
  worker: Owner | null;
  outcome: AttemptOutcome;
  error: { code: string; message: string; reason?: string } | null;
}

/** `lost`: its worker was. */
export type AttemptOutcome =
  | 'completed'
  | 'failed'
  | 'retried'
  | 'canceled'
  | 'given-back'
  | 'lost'
  | 'rolled-back'
  | RollbackFailure
  | 'rollback-given-back'
  | 'rollback-lost';

export type RollbackFailure = 'rollback-failed' | 'rollback-timed-out' | 'rollback-not-run';

/** What a task that rolls back knows of it. */
export interface StoredRollback {
  /** What becomes of the task once it has ended; `given-back` waits at its place, and the attempt does not count. */
  outcome: 'failed' | 'canceled' | 'retry' | 'given-back';
  /** Of a retry, from the end of the roll-back; null where it waits at its place, at once. */
  delayMs: number | null;
  until: string;
  /** When this worker claimed it; null while nobody has. */
  startedAt: string | null;
}

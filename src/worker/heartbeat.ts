import type { ClientConfig } from 'pg';
import { ThreadHeartbeat } from './heartbeat-main-side.js';

/**
 * Proves that one incarnation is alive, and tells when it can no longer be proven. Beats run in a thread of
 * their own, so a busy main loop does not stop them.
 */
export interface Heartbeat {
  /**
   * Brings the thread and its connection up, which takes long on a busy machine: better done before there is a TTL
   * to keep. Resolves once children can connect, whether or not the connection came about. Rejects with Fenced where the thread ended, with Unavailable where it did not come
   * up within a minute; the heartbeat is stopped then.
   */
  prepare(): Promise<void>;
  /**
   * Beats for this incarnation, after `prepare` where that was not called. Resolves after the first confirmed beat.
   * Rejects with Fenced where the worker is reaped already, with Unavailable where no beat was confirmed within
   * the TTL (10 s at least); the heartbeat is stopped then.
   */
  start(incarnation: string): Promise<void>;
  /** Idempotent and bounded in time. Children that are still connected are killed by their watchdogs. */
  stop(): Promise<void>;
  /**
   * Aborts with Fenced as its reason, once and for good: a beat changed no row, the deadline passed without a
   * confirmed beat, or the heartbeat thread was lost.
   */
  readonly fenced: AbortSignal;
  /**
   * Whether this worker may act now. Synchronous and up to date even where the event loop has not yet had the
   * time to abort `fenced` (after a freeze, say): ask it right before every step that others could not undo.
   * Finding the deadline passed, it aborts `fenced`. False before the first beat and after `stop`.
   */
  mayAct(): boolean;
  /** Where the watchdog of a child connects; valid between `prepare` and `stop`. */
  readonly watchdogAddress: string;
  /** Calls `listener` after each confirmed beat, until the returned function is called. */
  onBeat(listener: () => void): () => void;
}

/** A URL or a plain `pg` configuration: it travels to another thread, so it holds no functions or objects of classes. */
export type PostgresConnection = string | ClientConfig;

/**
 * `postgres`: the thread beats on a connection of its own, and time fences the worker. `caller`: the thread
 * asks this thread to call `beat`; there is no deadline (embedded: nobody else could take over).
 */
export type Beater =
  | { kind: 'postgres'; connection: PostgresConnection; namespace: string }
  | { kind: 'caller'; beat: (incarnation: string) => Promise<'beaten' | 'reaped'> };

export interface HeartbeatOptions {
  /** A beat is sent every third of it. */
  ttlMs: number;
  beater: Beater;
  /**
   * SIGKILLs this process 200 ms after it was fenced: before its TTL is over, and also where its main loop is
   * blocked. Default false.
   */
  killWhenFenced?: boolean;
  /** Told each failed beat and lost connection; for the log. */
  onError?: (error: unknown) => void;
}

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  return new ThreadHeartbeat(options);
}

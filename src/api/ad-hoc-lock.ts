/// <reference lib="esnext.disposable" preserve="true" />
import type { Duration } from '../durations.js';

export interface AcquireOptions {
  /**
   * How long to wait for the resources: 0 … 24 days; 0 takes them now or not at all. There is no default, because nobody
   * should wait for ever by accident. It counts from when this process is registered.
   */
  wait: Duration;
  /** Aborting it ends the wait, which rejects with its reason. It does nothing to a lock that is held. */
  signal?: AbortSignal;
}

/** Resources that this process holds until it lets them go. */
export interface AdHocLock {
  /** Names the lock wherever it is seen: it is listed like a task. */
  readonly id: string;
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  /** Send it along with every write to another system, which refuses one that is smaller as text. */
  readonly fence: string;
  /**
   * Aborts with LockLost when this process cannot prove any longer that it is alive: somebody else may hold the resources
   * soon after that.
   */
  readonly signal: AbortSignal;
  /** Resolves when the resources are free, or are not this process's any more. Idempotent; never rejects. */
  release(): Promise<void>;
  /** The same as `release`. */
  [Symbol.asyncDispose](): Promise<void>;
}

import type { Duration } from '../durations.js';
import type { Isolation } from '../tasks/definition.js';

/** How a worker differs from the default. */
export interface WorkerOptions {
  /**
   * Shown wherever the worker is; two workers may share one, each life has an incarnation of its own. Default:
   * HOLDFAST_WORKER_NAME, or the host name.
   */
  name?: string;
  /** How many tasks it runs at a time: 1 … 10,000. Default 10. */
  concurrency?: number;
  /**
   * After how long without a heartbeat it may be declared dead: 1s … 24h. It stops its tasks before that, when
   * it cannot prove that it is alive. Default `15s`.
   */
  ttl?: Duration;
  /**
   * How long `stop` lets tasks finish: 0 … 24 days. Then their signals abort, and what does not complete is given back at
   * its place, without an attempt counted; a child that has not ended 1 s later gets SIGTERM, and 1 s after
   * that SIGKILL. A handler in this process that does not heed its signal is waited for. Default `30s`.
   */
  grace?: Duration;
  /** The queues that it serves. Default: `default` alone. */
  queues?: string[];
  /** What it offers to the `needs` of tasks: versions by library, such as `{ ffmpeg: '6.1.0' }`. Default: nothing. */
  versions?: Record<string, string>;
  /**
   * JavaScript files, or folders of them, that export definitions: these are served as well as those given to
   * createHoldfast, and child processes load them. Default: none.
   */
  taskFiles?: string[];
  /**
   * Ends this process by SIGKILL soon after the worker was fenced, so that a handler that does not heed its signal
   * cannot outlive the TTL: for a process that does nothing else. Default false; `holdfast worker` does so.
   */
  killWhenFenced?: boolean;
  /**
   * Called once, where handlers in this process do not heed their signals: 3 s after the grace of a stop was over, or
   * 0.1 s after the worker was fenced. Whoever wants the process to end then ends it here, so that its tasks can go on
   * elsewhere; else they are waited for. Default: nothing; `holdfast worker` ends.
   */
  onUnstoppable?: (unstoppable: { handlers: number }) => void;
  /**
   * Says that no other worker ever has this name, so that a predecessor whose death cannot be proven is taken for dead
   * at once. One that lives all the same is stopped. Default false.
   */
  soleName?: boolean;
  /** Where handlers run whose definitions do not say. `child` needs `taskFiles`. Default `inline`. */
  isolation?: Isolation;
}

/** Runs tasks in this process, and in its children. */
export interface Worker {
  /**
   * Registers and runs tasks until `stop`, then resolves. Once only. Where it could not prove any longer that it is alive,
   * it waits until none of its handlers is left, and comes back as a new incarnation; with `killWhenFenced`, or where it
   * is told to stop meanwhile, it rejects with Fenced. Rejects with Unavailable where it could not start or not write everything when it stopped, InvalidTask
   * or NotConfigured for options or task files that cannot work.
   */
  run(): Promise<void>;
  /**
   * Claims nothing more, lets the tasks that run finish within `grace`, and withdraws. Idempotent; resolves when `run` has
   * ended: 5 s after the grace at the latest, also with both stores away, unless a handler in this process does not end.
   */
  stop(): Promise<void>;
  /** Calls `listener` when the worker has begun to take tasks, and again whenever it has come back. */
  on(event: 'ready', listener: (worker: { name: string; incarnation: string }) => void): this;
  /**
   * Calls `listener` when the worker may no longer act, once each time: its tasks' signals are aborted and its children
   * killed by then. `handlers` tells how many handlers in this process have not returned yet.
   */
  on(event: 'fenced', listener: (fencing: { reason: Error; handlers: number }) => void): this;
  /** The same as `stop`. */
  [Symbol.asyncDispose](): Promise<void>;
}

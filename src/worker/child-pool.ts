import type { DispatchedTask } from '../tasks/dispatch/dispatch-signature.js';
import type { PreparedTask } from '../tasks/dispatch/prepare-task.js';
import type { Task } from '../tasks/task.js';
import { ChildProcessPool } from './child-process-pool.js';

/**
 * Child processes that run handlers, one job at a time each, and are used again. Each leads a process group of
 * its own and is killed with it when this process dies, freezes beyond its deadline, or is fenced.
 */
export interface ChildPool {
  /** Runs the job in an idle child or a new one. Never throws; after `stop` the outcome is `not-started`. */
  run(job: ChildJob, requests: ChildRequests): ChildRun;
  /**
   * Idempotent and bounded in time: idle children end, busy ones get SIGTERM and then SIGKILL, each with its
   * whole group. Outcomes of jobs that still ran are `died` with `sentByUs`.
   */
  stop(): Promise<void>;
}

/** Which of a definition's two handlers. */
export type HandlerName = 'run' | 'rollback';

/** All plain data: it travels to the child as JSON. */
export interface ChildJob {
  /** The name of the task's definition. */
  name: string;
  handler: HandlerName;
  /** As stored: the child parses it with the definition's schema. */
  payload: unknown;
  context: ChildContext;
}

/** What the handler's context is made of in the child. */
export interface ChildContext {
  task: Task;
  attempt: number;
  fence: string;
}

/** What a handler in a child asks of its parent, which does all writing. In the order of the handler's calls. */
export interface ChildRequests {
  /** The value has been checked: it is JSON and within the limit. */
  progress(value: unknown): void;
  log(line: ChildLogLine): void;
  /** Inserts what the child has prepared, with its parent task named. A rejection rejects `ctx.dispatch`. */
  dispatch(prepared: PreparedTask): Promise<DispatchedTask>;
}

export interface ChildLogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: object;
  message: string;
}

export interface ChildRun {
  /** Never rejects. Resolves with `died` only when the child's process is gone and its group was killed. */
  outcome: Promise<ChildOutcome>;
  /** Resolves when the handler is called, which is after the start of a new child; never where it is not. */
  started: Promise<void>;
  /** Aborts the AbortSignal of the handler's context. The handler may still complete or fail. */
  abort(reason: string): void;
  /** SIGTERM for the child and its whole group. */
  terminate(): void;
  /** SIGKILL for them. */
  kill(): void;
}

/**
 * `not-started`: the handler never began, so nothing needs to be undone (no process could be had, the watchdog
 * could not be armed, or the pool is stopped). `died`: the process ended in the middle of the job; `sentByUs`
 * where `kill` or `stop` did it.
 */
export type ChildOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: ChildError }
  | { status: 'died'; exitCode: number | null; signal: NodeJS.Signals | null; sentByUs: boolean }
  | { status: 'not-started'; error: ChildError };

/** What a handler threw, or why its result could not be taken, as plain data. */
export interface ChildError {
  name: string;
  message: string;
  stack?: string;
  code?: string;
  /** The same attempt would fail alike: the payload does not parse, the result is too large. */
  unretryable?: boolean;
}

export interface ChildPoolOptions {
  /** Files and folders that export definitions, as absolute paths: each child imports them once. */
  taskFiles: string[];
  /** Of the heartbeat of this worker; see Heartbeat. */
  watchdogAddress: string;
  /** How long an unused child is kept, in milliseconds. Default 30,000. */
  idleLimitMs?: number;
  /** How long a new child may take to arm its watchdog and load the task files, in milliseconds. Default 30,000. */
  loadLimitMs?: number;
  /** From SIGTERM to SIGKILL in `stop`, in milliseconds. Default 2,000. */
  stopGraceMs?: number;
}

export function createChildPool(options: ChildPoolOptions): ChildPool {
  return new ChildProcessPool(options);
}

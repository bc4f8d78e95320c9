import type { DispatchedTask } from '../tasks/dispatch/dispatch-signature.js';
import type { PreparedTask } from '../tasks/dispatch/prepare-task.js';
import type { ChildContext, ChildError, ChildLogLine } from './child-pool.js';

/** To a child, in this order: `load`, then one job after the other; `end` when it is no longer needed. */
export type ToChild =
  | { type: 'load'; taskFiles: string[]; watchdogAddress: string }
  | { type: 'job'; job: number; name: string; payload: unknown; context: ChildContext }
  | { type: 'abort'; job: number; reason: string }
  | { type: 'answer'; job: number; id: number; answer: Answer }
  | { type: 'end' };

export type JobMessage = Extract<ToChild, { type: 'job' }>;

export type Answer = { ok: true; task: DispatchedTask } | { ok: false; error: ChildError };

/**
 * `armed`, then `ready` when the task files are loaded. All others belong to a job and name it: what a handler
 * sends after its end is dropped. `started`: right before the handler is called.
 */
export type FromChild =
  | { type: 'armed' }
  | { type: 'ready' }
  | { type: 'started'; job: number }
  | { type: 'progress'; job: number; value: unknown }
  | { type: 'log'; job: number; line: ChildLogLine }
  | { type: 'dispatch'; job: number; id: number; prepared: PreparedTask }
  | { type: 'settled'; job: number; outcome: SettledOutcome };

/** How a job ended, as its child tells it. */
export type SettledOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: ChildError }
  | { status: 'not-started'; error: ChildError };

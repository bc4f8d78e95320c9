import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Duration } from '../durations.js';
import type { Logger } from '../log.js';
import type { Resources } from '../resources.js';
import type { Policies } from '../store/store.js';
import type { HandlerDispatch } from './dispatch/dispatch-signature.js';
import type { Task } from './task.js';
import { checkTaskOptions } from './check-task-options.js';

/** Where a handler runs: on the worker's own thread, or in a child process that can be killed. */
export type Isolation = 'inline' | 'child';

/**
 * What defineTask takes. `Input` is what `dispatch` accepts and what is stored; `Output`, made of it by the
 * schema, reaches `resources` and `run`.
 */
export interface TaskOptions<Input = unknown, Output = Input, Result = unknown> {
  /** Names the task in every process; at most 1 KiB. */
  name: string;
  /** Any Standard Schema (zod, valibot, arktype …). It parses the payload at dispatch and before each run. */
  payload?: StandardSchemaV1<Input, Output>;
  /** What the task must hold while it runs; computed at dispatch and again before each run. Default: nothing. */
  resources?: (payload: Output) => Partial<Resources>;
  /** Attempts before the task fails. Default 1; at most 1,000,000. */
  maxAttempts?: number;
  /** The pause before a retry: `initial`, doubled from attempt to attempt, up to `max`. Default 1s and 5m. */
  backoff?: { initial?: Duration; max?: Duration };
  /** How long one attempt may take before its signal aborts. Default: no limit; at most 24 days. */
  timeout?: Duration;
  /** When the worker is lost: `retry` without counting the attempt, or `fail`. Default: a failed attempt. */
  onWorkerLost?: 'retry' | 'fail';
  /** How many crashes of its worker or child a task may cause before it fails as `crashed`. Default 3. */
  maxCrashes?: number;
  /** Default: the worker's own `isolation`, which is `inline` unless it says otherwise. */
  isolation?: Isolation;
  /** Version ranges (semver) of what the worker must offer, such as `{ ffmpeg: '>=6' }`. Default: none. */
  needs?: Record<string, string>;
  /** Default `default`. */
  queue?: string;
  /** −32768 … 32767, larger first. Default 0. */
  priority?: number;
  /** Does the work. Its result is stored and must be JSON. Throwing fails the attempt. */
  run(payload: Output, context: TaskContext): Promise<Result> | Result;
  /**
   * Undoes what an attempt left behind that began and has not completed: it failed, was canceled or given back, or its
   * worker was lost. It runs under the locks of the attempt, on any worker; only then the task ends or is retried. It
   * may run more than once, and after an attempt that had done nothing yet. Default: none.
   */
  rollback?(payload: Output, context: RollbackContext): Promise<void> | void;
  /** How long the roll-back may take, from the end of the attempt. Default 1m; at most 24 days. */
  rollbackTimeout?: Duration;
}

/** A task that can be dispatched and run. Made by defineTask; every default is filled in. */
export interface TaskDefinition<Input = unknown, Output = unknown, Result = unknown> {
  readonly name: string;
  readonly queue: string;
  readonly priority: number;
  readonly needs: Record<string, string>;
  /** null: as the worker says. */
  readonly isolation: Isolation | null;
  readonly policies: Policies;
  readonly payload: StandardSchemaV1<Input, Output> | null;
  resources(payload: Output): Partial<Resources>;
  run(payload: Output, context: TaskContext): Promise<Result> | Result;
  /** Does nothing where there is none: its policies tell. */
  rollback(payload: Output, context: RollbackContext): Promise<void> | void;
}

/** What a handler is given besides its payload. */
export interface TaskContext {
  /** The task as it was claimed. */
  readonly task: Task;
  /** Counts from 1. */
  readonly attempt: number;
  /** Aborts when the handler must stop: out of time, a worker that stops or that may no longer act. */
  readonly signal: AbortSignal;
  /** Send it along with every write to another system, which refuses one that is smaller as text. */
  readonly fence: string;
  /** Replaces or adds a line of progress; stored soon, not at once. The value must be JSON. */
  progress(update: unknown): void;
  /** Dispatches a task whose `parent` is this one. */
  dispatch: HandlerDispatch;
  /** Adds the task, its name and attempt to every line. */
  readonly log: Logger;
}

/** What a roll-back is given besides the payload. */
export type RollbackContext = Pick<TaskContext, 'task' | 'signal' | 'fence' | 'progress' | 'log'>;

const brand = Symbol.for('holdfast.task');

/**
 * Defines a task: its name, what it must hold, how it is retried, and its handler. With a schema, its input is
 * what `dispatch` takes and its output what `resources` and `run` get; without one all of them take what the
 * handler declares, unchecked, or any JSON value.
 * Throws InvalidTask, naming the option, where one is unknown or malformed.
 */
export function defineTask<Input, Output, Result = unknown>(
  options: TaskOptions<Input, Output, Result> & { payload: StandardSchemaV1<Input, Output> },
): TaskDefinition<Input, Output, Result>;
export function defineTask<Payload = unknown, Result = unknown>(
  options: TaskOptions<Payload, Payload, Result> & { payload?: undefined },
): TaskDefinition<Payload, Payload, Result>;
export function defineTask<Input, Output, Result>(
  options: TaskOptions<Input, Output, Result>,
): TaskDefinition<Input, Output, Result> {
  const checked = checkTaskOptions(options);
  const definition: TaskDefinition<Input, Output, Result> = {
    ...checked,
    payload: options.payload ?? null,
    resources: options.resources === undefined ? () => ({}) : (payload) => options.resources?.(payload) ?? {},
    run: (payload, context) => options.run(payload, context),
    rollback: (payload, context) => options.rollback?.(payload, context),
  };
  Object.defineProperty(definition, brand, { value: true });
  return Object.freeze(definition);
}

/** By brand, not by identity: a task file may have loaded another copy of this package. */
export function isTaskDefinition(value: unknown): value is TaskDefinition {
  return typeof value === 'object' && value !== null && brand in value;
}

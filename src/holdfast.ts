/// <reference lib="esnext.disposable" preserve="true" />
import type { AcquireOptions, AdHocLock } from './api/ad-hoc-lock.js';
import type { ConnectionOptions } from './configuration.js';
import type { Worker, WorkerOptions } from './holdfast/worker.js';
import type { Logger } from './log.js';
import type { AuditOptions, AuditReport } from './recovery/audit-locks.js';
import type { Resources } from './resources.js';
import type { TaskDefinition } from './tasks/definition.js';
import type { Dispatch, DispatchMany, DispatchOptions } from './tasks/dispatch/dispatch-signature.js';
import type { LockListOptions, LockPage } from './tasks/reading/list-locks.js';
import type { OwnerPage } from './tasks/reading/list-owners.js';
import type { TaskListOptions, TaskPage } from './tasks/reading/list-tasks.js';
import type { QueuePage } from './tasks/reading/list-paused-queues.js';
import type { WorkerPage } from './tasks/reading/list-workers.js';
import type { PageOptions } from './tasks/reading/page-options.js';
import type { QueueState } from './tasks/pause-queue.js';
import type { RetryTasks } from './tasks/retry-tasks.js';
import type { Task } from './tasks/task.js';
import type { WaitOptions } from './tasks/wait/wait-for-task.js';
import { resolveConfiguration } from './configuration.js';
import { checkDefinitions } from './holdfast/check-definitions.js';
import { HoldfastInProcess } from './holdfast/holdfast-in-process.js';
import { openBackend } from './holdfast/open-backend.js';
import { silentLogger } from './log.js';
import { refuseUnknownOptions } from './tasks/known-options.js';

export type { Worker, WorkerOptions } from './holdfast/worker.js';

export interface HoldfastOptions extends ConnectionOptions {
  /** Definitions that this process knows: their tasks are checked at dispatch, and run by its workers. Default: none. */
  tasks?: readonly TaskDefinition[];
  /** Brings the schema of the namespace up to date first. Embedded data always is. Default false. */
  migrate?: boolean;
  /** A pino logger, or any object with its four methods. Default: silent. */
  logger?: Logger;
}

/** The tasks, workers and locks of one namespace. */
export interface Holdfast {
  /**
   * Stores a task; workers run it when it holds all its resources. It needs PostgreSQL alone: while Redis is out of
   * reach, the task waits.
   */
  dispatch: Dispatch<DispatchOptions>;
  /** Stores many tasks, or none of them, in as few round trips as their size allows. */
  dispatchMany: DispatchMany;
  /**
   * Waits until the task is in a final state and resolves with it, also where it failed. A handler that waits lends its
   * slot to other tasks. Throws NotFound; WaitTimeout; WouldDeadlock where a handler waits for a task that cannot end
   * before it; Unavailable where PostgreSQL cannot be asked at first, or when this Holdfast is closed.
   */
  wait(id: string, options?: WaitOptions): Promise<Task>;
  readonly tasks: {
    /** Throws NotFound. */
    get(id: string): Promise<Task>;
    /** Newest first. */
    list(options?: TaskListOptions): Promise<TaskPage>;
    /**
     * Cancels a task. One that waits is `canceled` at once; one that runs is `canceling` until its worker has stopped
     * it: its signal aborts, and a child that has not ended 5 s later is ended by SIGTERM, then by SIGKILL. Whatever
     * the handler then makes of it, the task ends as `canceled`, without a result. Throws NotFound; WrongState where
     * the task had completed or failed.
     */
    cancel(id: string): Promise<Task>;
    /** Has failed or canceled tasks run again: one, several, or all that a filter names. */
    readonly retry: RetryTasks;
  };
  readonly queues: {
    /**
     * Leaves the tasks that wait in a queue alone, and lets them block nobody; what runs goes on. Its name need not have
     * been seen before. Throws InvalidTask; Unavailable where admission does not pause for it in time.
     */
    pause(queue: string): Promise<QueueState>;
    /** Has the tasks that wait in a paused queue queue up again, in the same order, behind those of other queues. */
    resume(queue: string): Promise<QueueState>;
    /** The queues that are paused, in order of their names. */
    list(options?: PageOptions): Promise<QueuePage>;
  };
  readonly workers: {
    /** In order of their incarnations. */
    list(options?: PageOptions): Promise<WorkerPage>;
  };
  readonly locks: {
    /**
     * Takes resources for code of the caller's own, in order with all that wait for them. Resolves with the lock, which is
     * held until it is released or this Holdfast is closed. Throws ResourcesBusy (with `wait: 0`), LockTimeout, WouldDeadlock
     * (in a handler), Fenced,
     * InvalidTask, or Unavailable in an outage; nothing is held or waited for after that.
     */
    acquire(resources: Partial<Resources>, options: AcquireOptions): Promise<AdHocLock>;
    /** What is held or waited for, in order of the resources' names. */
    list(options?: LockListOptions): Promise<LockPage>;
    /** Who may hold, in order of name and incarnation. */
    owners(options?: PageOptions): Promise<OwnerPage>;
    /**
     * Looks for what is left behind: locks, queues and lanes that lead to no hold, holds that lead to no task, tasks without
     * a hold. Takes a second or three where it finds something, to tell it from what is on its way. Throws InvalidTask.
     */
    audit(options?: AuditOptions): Promise<AuditReport>;
  };
  /** A worker in this process; it starts with `run`. Throws InvalidTask or NotConfigured for malformed options. */
  createWorker(options?: WorkerOptions): Worker;
  /** Brings the schema up to date; safe when many processes do it at once. Tells what it applied. */
  migrate(): Promise<{ applied: string[] }>;
  /** The migrations that `migrate` would apply. */
  pendingMigrations(): Promise<string[]>;
  /**
   * Stops the workers of this process and waits for the tasks that run in it, whose handlers may use this Holdfast until
   * they have returned; releases its locks; ends waits; closes connections. Idempotent.
   */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const holdfastOptions = [
  'database',
  'redis',
  'namespace',
  'embedded',
  'dataDir',
  'tasks',
  'migrate',
  'logger',
];

/**
 * Opens a namespace. With servers, nothing is connected before it is used (but for `migrate: true`), and what
 * cannot be reached is tried again at the next use; using it throws WrongSchema where migrations are pending,
 * WrongTable where the namespace has another lock table, UnsafeServer where a server cannot keep the guarantees,
 * Unavailable in an outage. Embedded, all is opened here: throws DataDirLocked while another process has the
 * folder. Throws NotConfigured where the place is not given or cannot be one, InvalidTask where an option is
 * malformed.
 */
export async function createHoldfast(options: HoldfastOptions = {}): Promise<Holdfast> {
  refuseUnknownOptions(options, holdfastOptions, 'createHoldfast');
  const loaded = checkDefinitions(options.tasks ?? []);
  const configuration = resolveConfiguration(options, process.env);
  const log = options.logger ?? silentLogger;
  const backend = await openBackend(configuration, log);
  const holdfast = new HoldfastInProcess({ backend, loaded, log });
  try {
    if (options.migrate === true) await holdfast.migrate();
  } catch (error) {
    await holdfast.close();
    throw error;
  }
  return holdfast;
}

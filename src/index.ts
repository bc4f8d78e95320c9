export { createHoldfast } from './holdfast.js';
export type { Holdfast, HoldfastOptions, Worker, WorkerOptions } from './holdfast.js';
export type { AcquireOptions, AdHocLock } from './api/ad-hoc-lock.js';
export type { ConnectionOptions, PostgresOptions, RedisOptions } from './configuration.js';

export { defineTask } from './tasks/definition.js';
export type {
  Isolation,
  RollbackContext,
  TaskContext,
  TaskDefinition,
  TaskOptions,
} from './tasks/definition.js';
export { createFenceTable, guardWrite } from './tasks/guarding/guard-write.js';
export type { GuardedWrite } from './tasks/guarding/guard-write.js';
export { Unretryable } from './tasks/unretryable.js';
export type { Task } from './tasks/task.js';
export type { TaskState } from './store/task-state.js';
export type { AttemptOutcome, AttemptRecord } from './store/attempt-record.js';
export type { Policies, TaskError, UniqueMode } from './store/store.js';

export type {
  Dispatch,
  DispatchedTask,
  DispatchMany,
  DispatchOptions,
  DispatchRequest,
  HandlerDispatch,
  HandlerDispatchOptions,
  TransactionOption,
} from './tasks/dispatch/dispatch-signature.js';
export type { QueueState } from './tasks/pause-queue.js';
export type { RetriedCount, RetriedTasks, RetryFilter, RetryTasks } from './tasks/retry-tasks.js';
export type { WaitOptions } from './tasks/wait/wait-for-task.js';
export type { TaskListOptions, TaskPage, TaskSummary } from './tasks/reading/list-tasks.js';
export type { PausedQueueView, QueuePage } from './tasks/reading/list-paused-queues.js';
export type { WorkerPage, WorkerView } from './tasks/reading/list-workers.js';
export type { Lock, LockListOptions, LockPage } from './tasks/reading/list-locks.js';
export type { LockOwner, OwnerPage } from './tasks/reading/list-owners.js';
export type { AuditOptions, AuditReport } from './recovery/audit-locks.js';
export type { Finding, FindingKind } from './recovery/audit-finding.js';
export type { PageOptions } from './tasks/reading/page-options.js';

export type { Duration } from './durations.js';
export type { Logger } from './log.js';
export type { Owner } from './owner.js';
export type { Mode, Resources } from './resources.js';
export type { Queryable } from './store/database.js';

export {
  DataDirLocked,
  Fenced,
  HoldfastError,
  InvalidTask,
  LockLost,
  LockTimeout,
  NotConfigured,
  NotFound,
  PayloadTooLarge,
  ResourcesBusy,
  ScriptFailed,
  Unavailable,
  UnknownTask,
  UnsafeServer,
  WaitTimeout,
  WouldDeadlock,
  WrongSchema,
  WrongState,
  WrongTable,
} from './errors.js';
export type { ErrorCode } from './errors.js';

import type { Owner } from '../owner.js';
import type { AttemptRecord, StoredRollback } from '../store/attempt-record.js';
import type { TaskError, TaskRow } from '../store/store.js';
import type { TaskState } from '../store/task-state.js';

/** A task as every front end shows it. Timestamps are ISO 8601 in UTC; ids and fences are strings. */
export interface Task {
  id: string;
  name: string;
  state: TaskState;
  queue: string;
  payload: unknown;
  exclusive: string[];
  shared: string[];
  /** Larger goes first among the tasks that have all their resources. */
  priority: number;
  /** Raised each time the task must be claimed anew; (task, entry) runs at most once. */
  entry: number;
  /** How often it has been started, the attempts given back not counted. */
  attempt: number;
  /** null until a process that has the definition loaded has seen the task. */
  maxAttempts: number | null;
  crashes: number;
  /** Grows from holder to holder of a resource; compare as text. null before the first attempt. */
  fence: string | null;
  /** Who runs it, or ran it last. */
  worker: Owner | null;
  group: null;
  /** The task whose handler dispatched this one. */
  parent: string | null;
  /** No other task has it that is not in a final state. */
  uniqueKey: string | null;
  runAt: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  progress: unknown[];
  result: unknown;
  error: TaskError | null;
  /** How its latest attempts ended, at most 20, the oldest first. */
  attempts: AttemptRecord[];
  /** While it rolls back: what becomes of it then, and until when the roll-back has time. */
  rollback: Pick<StoredRollback, 'outcome' | 'until'> | null;
}

export function taskOf(row: TaskRow): Task {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    queue: row.queue,
    payload: row.payload,
    exclusive: row.exclusive,
    shared: row.shared,
    priority: row.priority,
    entry: row.entry,
    attempt: row.attempt,
    maxAttempts: row.policies?.maxAttempts ?? null,
    crashes: row.crashes,
    fence: row.fence,
    worker: row.worker,
    group: null,
    parent: row.parent,
    uniqueKey: row.uniqueKey,
    runAt: row.runAt,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
    progress: row.progress,
    result: row.result,
    error: row.error,
    attempts: row.attempts,
    rollback: row.rollback === null ? null : { outcome: row.rollback.outcome, until: row.rollback.until },
  };
}

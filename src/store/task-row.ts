import type { AttemptRecord, StoredRollback } from './attempt-record.js';
import type { Policies, TaskError, TaskRow } from './store.js';
import type { TaskState } from './task-state.js';

/** A row of the table tasks, or of the view listed_tasks, as both adapters return it. */
export interface StoredTask {
  id: string;
  name: string;
  state: TaskState;
  queue: string;
  lane: string;
  payload: unknown;
  exclusive: string[];
  shared: string[];
  priority: number;
  place: string;
  entry: number;
  attempt: number;
  crashes: number;
  policies: Policies | null;
  fence: string | null;
  worker: string | null;
  worker_name: string | null;
  parent: string | null;
  unique_key: string | null;
  readmitted: boolean;
  run_at: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  progress: unknown[];
  result: unknown;
  error: TaskError | null;
  attempts: AttemptRecord[];
  outcome: StoredRollback['outcome'] | null;
  outcome_delay_ms: string | null;
  rollback_until: string | null;
  rollback_started_at: string | null;
  rollback_error: (TaskError & { reason: string }) | null;
}

/** Field by field: claims make thousands of them a second, and spreading costs ten times as much. */
export function taskRow(stored: StoredTask): TaskRow {
  return {
    id: stored.id,
    name: stored.name,
    state: stored.state,
    queue: stored.queue,
    lane: stored.lane,
    payload: stored.payload,
    exclusive: stored.exclusive,
    shared: stored.shared,
    priority: stored.priority,
    place: stored.place,
    entry: stored.entry,
    attempt: stored.attempt,
    crashes: stored.crashes,
    policies: stored.policies,
    fence: stored.fence,
    worker: ownerOf(stored.worker_name, stored.worker),
    parent: stored.parent,
    uniqueKey: stored.unique_key,
    readmitted: stored.readmitted,
    runAt: stored.run_at,
    createdAt: stored.created_at,
    startedAt: stored.started_at,
    finishedAt: stored.finished_at,
    progress: stored.progress,
    result: stored.result,
    error: withRollback(stored),
    attempts: stored.attempts,
    rollback: rollbackOf(stored),
  };
}

/** Beside what the attempt ended with; a canceled task, or one that was given back, has no error of its own. */
function withRollback({ error, rollback_error: rollback }: StoredTask): TaskError | null {
  if (rollback === null) return error;
  const { code, message, reason } = rollback;
  const own = error ?? { code: 'RollbackFailed', message: 'The roll-back of the task did not end well.' };
  return { ...own, reason, rollback: { code, message } };
}

function rollbackOf(stored: StoredTask): StoredRollback | null {
  const {
    outcome,
    outcome_delay_ms: delayMs,
    rollback_until: until,
    rollback_started_at: startedAt,
  } = stored;
  if (outcome === null || until === null) return null;
  return { outcome, delayMs: delayMs === null ? null : Number(delayMs), until, startedAt };
}

/** The constraint worker_has_name has both or neither. */
export function ownerOf(name: string | null, incarnation: string | null): TaskRow['worker'] {
  return name === null || incarnation === null ? null : { name, incarnation };
}

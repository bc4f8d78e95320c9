import type { AttemptRecord, Policies, TaskError, TaskRow } from './store.js';
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
    error: stored.error,
    attempts: stored.attempts,
  };
}

/** The constraint worker_has_name has both or neither. */
export function ownerOf(name: string | null, incarnation: string | null): TaskRow['worker'] {
  return name === null || incarnation === null ? null : { name, incarnation };
}

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
  readmitted: boolean;
  run_at: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  progress: unknown[];
  result: unknown;
  error: TaskError | null;
}

export function taskRow(stored: StoredTask): TaskRow {
  const { id, name, state, queue, lane, payload, exclusive, shared, priority, place } = stored;
  const { entry, attempt, crashes, policies, fence, parent, readmitted, progress, result, error } = stored;
  return {
    ...{ id, name, state, queue, lane, payload, exclusive, shared, priority, place },
    ...{ entry, attempt, crashes, policies, fence, parent, readmitted, progress, result, error },
    worker: ownerOf(stored.worker_name, stored.worker),
    runAt: stored.run_at,
    createdAt: stored.created_at,
    startedAt: stored.started_at,
    finishedAt: stored.finished_at,
  };
}

/** The constraint worker_has_name has both or neither. */
export function ownerOf(name: string | null, incarnation: string | null): TaskRow['worker'] {
  return name === null || incarnation === null ? null : { name, incarnation };
}

import type { RollbackFailure } from './attempt-record.js';
import type { TaskEntry, TaskError } from './store.js';
import type { TaskState } from './task-state.js';

export type Finish = FinishOfAttempt | FinishOfRollback;

export type FinishOfAttempt = TaskEntry &
  (
    | { state: 'completed'; result: unknown }
    | { state: 'failed'; error: TaskError }
    | { state: 'retry'; error: TaskError; delayMs: number }
  ) & {
    /** Its handler had begun: unless it has completed, the task is rolled back first, where its policies say so. */
    rollBack?: boolean;
    /** It ended by a crash, which is counted whatever becomes of the task. */
    crashed?: boolean;
  };

/** However a roll-back ended, the outcome that was stored comes to pass. */
export type FinishOfRollback = TaskEntry &
  ({ state: 'rolled-back' } | { state: RollbackFailure; error: { code: string; message: string } });

/**
 * The state that the task has now: `waiting` for a retry, `canceled` where that was asked for meanwhile, `rolling_back`
 * with the next entry. `refused`: the state, the entry or the worker is another by now, or the worker was reaped.
 */
export interface FinishOutcome extends TaskEntry {
  outcome: TaskState | 'refused';
}

import type { Run } from '../run.js';
import type { Finish, FinishOutcome } from '../finish.js';
import type { TaskEntry } from '../store.js';
import type { TaskState } from '../task-state.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './finish-tasks.sql');

export async function finishTasks(run: Run, worker: string, finishes: Finish[]): Promise<FinishOutcome[]> {
  if (finishes.length === 0) return [];
  const rows = await run<TaskEntry & { state: TaskState }>(sql, [
    worker,
    finishes.map(({ task }) => task),
    finishes.map(({ entry }) => entry),
    finishes.map(({ state }) => state),
    finishes.map((finish) => (finish.state === 'completed' ? JSON.stringify(finish.result ?? null) : null)),
    finishes.map(errorText),
    finishes.map((finish) => (finish.state === 'retry' ? Math.ceil(finish.delayMs) : 0)),
    finishes.map((finish) => 'rollBack' in finish && finish.rollBack),
    finishes.map((finish) => 'crashed' in finish && finish.crashed),
  ]);
  const states = new Map(rows.map(({ task, entry, state }) => [`${task} ${entry}`, state]));
  return finishes.map(({ task, entry }) => ({
    task,
    entry,
    outcome: states.get(`${task} ${entry}`) ?? 'refused',
  }));
}

/** That of a roll-back stands beside the task's, so it says by itself what it is. */
function errorText(finish: Finish): string | null {
  if (finish.state === 'completed' || finish.state === 'rolled-back') return null;
  if (finish.state === 'failed' || finish.state === 'retry') return JSON.stringify(finish.error);
  return JSON.stringify({ ...finish.error, reason: finish.state });
}

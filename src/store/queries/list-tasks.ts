import type { Run } from '../run.js';
import type { TaskFilter, TaskRow } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { checkCursor } from '../task-id.js';
import { taskRow, type StoredTask } from '../task-row.js';
import { taskStates } from '../task-state.js';

const all = sqlFile(import.meta.url, './list-tasks.sql');
const byState = sqlFile(import.meta.url, './list-tasks-by-state.sql');
const byName = sqlFile(import.meta.url, './list-tasks-by-name.sql');

/** No states, like none given, means all. */
export async function listTasks(
  run: Run,
  { states = [], name, after, limit }: TaskFilter,
): Promise<TaskRow[]> {
  checkCursor(after);
  const wanted = states.length === 0 ? [...taskStates] : [...new Set(states)];
  const stored = await (name === undefined
    ? states.length === 0
      ? run<StoredTask>(all, [after, limit])
      : run<StoredTask>(byState, [after, limit, wanted])
    : run<StoredTask>(byName, [after, limit, wanted, name]));
  return stored.map(taskRow);
}

import type { Run } from '../run.js';
import type { TaskRow } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { isTaskId } from '../task-id.js';
import { taskRow, type StoredTask } from '../task-row.js';

const sql = sqlFile(import.meta.url, './get-task.sql');

export async function getTask(run: Run, id: string): Promise<TaskRow | null> {
  if (!isTaskId(id)) return null;
  const [stored] = await run<StoredTask>(sql, [id]);
  return stored === undefined ? null : taskRow(stored);
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';
import { isTaskId } from '../task-id.js';

const sql = sqlFile(import.meta.url, './settled-among.sql');

export async function settledAmong(run: Run, ids: string[]): Promise<string[]> {
  const rows = await run<{ id: string }>(sql, [ids.filter(isTaskId)]);
  return rows.map(({ id }) => id);
}

import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './marked-take-outs.sql');

export async function markedTakeOuts(run: Run, limit: number): Promise<TaskEntry[]> {
  return run<TaskEntry>(sql, [limit]);
}

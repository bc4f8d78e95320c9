import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './rollbacks-among.sql');

export async function rollbacksAmong(run: Run, ids: string[]): Promise<TaskEntry[]> {
  return ids.length === 0 ? [] : run<TaskEntry>(sql, [ids]);
}

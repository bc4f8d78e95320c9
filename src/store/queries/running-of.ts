import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './running-of.sql');

export async function runningOf(run: Run, worker: string): Promise<TaskEntry[]> {
  return run<TaskEntry>(sql, [worker]);
}

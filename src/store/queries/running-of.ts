import type { Run } from '../run.js';
import type { RunningTask } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './running-of.sql');

export async function runningOf(run: Run, worker: string): Promise<RunningTask[]> {
  return run<RunningTask>(sql, [worker]);
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './clear-take-outs.sql');

export async function clearTakeOuts(run: Run, tasks: string[]): Promise<void> {
  if (tasks.length > 0) await run(sql, [tasks]);
}

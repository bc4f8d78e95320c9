import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './discard-tasks.sql');

export async function discardTasks(run: Run, worker: string, ids: string[]): Promise<'discarded' | 'reaped'> {
  const [row] = await run<{ done: boolean }>(sql, [worker, ids]);
  return row?.done === true ? 'discarded' : 'reaped';
}

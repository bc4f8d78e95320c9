import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './void-inserts.sql');

export async function voidInserts(run: Run, worker: string, number: number): Promise<'void' | 'reaped'> {
  const [row] = await run<{ done: boolean }>(sql, [worker, number]);
  return row?.done === true ? 'void' : 'reaped';
}

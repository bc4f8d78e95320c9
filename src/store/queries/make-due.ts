import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './make-due.sql');

export async function makeDue(run: Run, limit: number): Promise<number> {
  const [row] = await run<{ made: string }>(sql, [limit]);
  return Number(row?.made ?? 0);
}

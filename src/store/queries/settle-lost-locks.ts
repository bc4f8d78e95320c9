import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './settle-lost-locks.sql');

export async function settleLostLocks(run: Run, requester: string): Promise<string[] | 'refused'> {
  const [row] = await run<{ held: string[] | null }>(sql, [requester]);
  return row?.held ?? 'refused';
}

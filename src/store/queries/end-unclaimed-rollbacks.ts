import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './end-unclaimed-rollbacks.sql');

export async function endUnclaimedRollbacks(run: Run, limit: number): Promise<number> {
  const [row] = await run<{ ended: string }>(sql, [limit]);
  return Number(row?.ended ?? 0);
}

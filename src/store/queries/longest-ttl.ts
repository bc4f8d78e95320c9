import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './longest-ttl.sql');

export async function longestTtlMs(run: Run): Promise<number> {
  const [row] = await run<{ longestTtlMs: number }>(sql);
  return row?.longestTtlMs ?? 0;
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './take-out-unserved.sql');

export async function takeOutUnserved(
  run: Run,
  { epoch, lanes, limit }: { epoch: string; lanes: string[]; limit: number },
): Promise<number> {
  const [row] = await run<{ marked: string }>(sql, [lanes, epoch, limit]);
  return Number(row?.marked ?? 0);
}

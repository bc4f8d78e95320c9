import type { Run } from '../run.js';
import type { Admission, HoldSource } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './tasks-to-admit.sql');

export async function tasksToAdmit(
  run: Run,
  { epoch, lanes, afterPlace, limit }: Parameters<Admission['tasksToAdmit']>[0],
  upToPlace: string | null,
): Promise<HoldSource[]> {
  if (lanes.length === 0) return [];
  return run<HoldSource>(sql, [epoch, lanes, afterPlace, limit, upToPlace]);
}

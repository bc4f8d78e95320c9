import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './admission-needed.sql');

export async function admissionNeeded(run: Run, epoch: string): Promise<boolean> {
  const [row] = await run<{ needed: boolean }>(sql, [epoch]);
  return row?.needed === true;
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './open-pass.sql');

/** Takes the admission lock until the transaction ends; null where another process has it. */
export async function openPass(run: Run): Promise<{ pass: string; epoch: string | null } | null> {
  const [row] = await run<{ pass: string | null; epoch: string | null }>(sql);
  return row === undefined || row.pass === null ? null : { pass: row.pass, epoch: row.epoch };
}

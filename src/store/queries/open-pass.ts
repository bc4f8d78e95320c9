import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './open-pass.sql');

/**
 * Takes the admission lock until the transaction ends; null where another process has it. The server ends it when
 * nothing comes for `idleLimitMs`.
 */
export async function openPass(
  run: Run,
  idleLimitMs: number,
): Promise<{ pass: string; epoch: string | null } | null> {
  const [row] = await run<{ pass: string | null; epoch: string | null }>(sql, [String(idleLimitMs)]);
  return row === undefined || row.pass === null ? null : { pass: row.pass, epoch: row.epoch };
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './lanes-to-admit.sql');

/** `lastPlace`: of all that wait in these lanes; null where there are none. */
export async function lanesToAdmit(
  run: Run,
  epoch: string,
): Promise<{ lanes: string[]; lastPlace: string | null }> {
  const rows = await run<{ lane: string; lastPlace: string }>(sql, [epoch]);
  return { lanes: rows.map(({ lane }) => lane), lastPlace: rows[0]?.lastPlace ?? null };
}

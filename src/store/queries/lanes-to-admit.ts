import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './lanes-to-admit.sql');

export async function lanesToAdmit(run: Run, epoch: string): Promise<string[]> {
  const rows = await run<{ lane: string }>(sql, [epoch]);
  return rows.map(({ lane }) => lane);
}

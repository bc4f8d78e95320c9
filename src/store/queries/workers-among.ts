import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './workers-among.sql');

export async function workersAmong(run: Run, incarnations: string[]): Promise<string[]> {
  const rows = await run<{ incarnation: string }>(sql, [incarnations]);
  return rows.map(({ incarnation }) => incarnation);
}

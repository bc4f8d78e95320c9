import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './reap-worker.sql');

export async function reapWorker(run: Run, incarnation: string): Promise<'reaped' | 'gone'> {
  const [row] = await run<{ outcome: 'reaped' | 'gone' }>(sql, [incarnation]);
  return row?.outcome ?? 'gone';
}

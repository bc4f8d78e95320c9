import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './remove-worker.sql');

export async function removeWorker(run: Run, incarnation: string): Promise<'removed' | 'running'> {
  const [row] = await run<{ outcome: 'removed' | 'running' }>(sql, [incarnation]);
  return row?.outcome ?? 'removed';
}

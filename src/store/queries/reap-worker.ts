import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './reap-worker.sql');

type Outcome = 'reaped' | 'already' | 'alive' | 'gone';

export async function reapWorker(run: Run, incarnation: string, counter?: string): Promise<Outcome> {
  const [row] = await run<{ outcome: Outcome }>(sql, [incarnation, counter ?? null]);
  return row?.outcome ?? 'gone';
}

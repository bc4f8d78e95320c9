import type { ObservedWorker } from '../lost-workers.js';
import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './observe-workers.sql');

export async function observeWorkers(run: Run): Promise<ObservedWorker[]> {
  return run<ObservedWorker>(sql);
}

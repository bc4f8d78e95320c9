import type { Run } from '../run.js';
import type { ServedByWorker } from '../worker-row.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './serving-workers.sql');

export async function servingWorkers(run: Run): Promise<ServedByWorker[]> {
  return run<ServedByWorker>(sql);
}

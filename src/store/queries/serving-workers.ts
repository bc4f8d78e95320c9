import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './serving-workers.sql');

export interface Serving {
  queues: string[];
  names: string[];
  versions: Record<string, string>;
}

export async function servingWorkers(run: Run): Promise<Serving[]> {
  return run<Serving>(sql);
}

import type { NamedWorker } from '../lost-workers.js';
import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './workers-named.sql');

export async function workersNamed(run: Run, name: string): Promise<NamedWorker[]> {
  return run<NamedWorker>(sql, [name]);
}

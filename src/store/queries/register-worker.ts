import type { Run } from '../run.js';
import type { NewWorker } from '../worker-row.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './register-worker.sql');

export async function registerWorker(run: Run, worker: NewWorker): Promise<{ incarnation: string }> {
  const [row] = await run<{ incarnation: string }>(sql, [
    worker.name,
    worker.kind,
    worker.host,
    worker.pid,
    JSON.stringify(worker.identity),
    Math.ceil(worker.ttlMs),
    worker.concurrency,
    worker.queues,
    worker.names,
    JSON.stringify(worker.versions),
    worker.tableFormat,
  ]);
  return row as { incarnation: string };
}

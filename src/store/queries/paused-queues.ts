import type { Run } from '../run.js';
import type { PausedQueue } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './paused-queues.sql');

export async function pausedQueues(
  run: Run,
  { after, limit }: { after: string | null; limit: number },
): Promise<PausedQueue[]> {
  return run<PausedQueue>(sql, [after, limit]);
}

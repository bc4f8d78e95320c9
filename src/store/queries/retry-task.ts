import type { Run } from '../run.js';
import type { RetryOutcome } from '../retry.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './retry-task.sql');

export async function retryTask(run: Run, id: string): Promise<RetryOutcome | null> {
  const [outcome] = await run<RetryOutcome>(sql, [id]);
  return outcome ?? null;
}

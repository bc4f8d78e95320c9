import type { Run } from '../run.js';
import type { CancelOutcome } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './cancel-task.sql');

export async function cancelTask(run: Run, id: string): Promise<CancelOutcome | null> {
  const [outcome] = await run<CancelOutcome>(sql, [id]);
  return outcome ?? null;
}

import type { Run } from '../run.js';
import type { LostTaskOutcome } from '../lost-workers.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './settle-lost-task.sql');

export async function settleLostTask(
  run: Run,
  worker: string,
  { task, entry }: TaskEntry,
): Promise<LostTaskOutcome> {
  const [row] = await run<{ settled: number | null }>(sql, [worker, task, entry]);
  const settled = row?.settled ?? null;
  if (settled === null) return { outcome: 'refused' };
  return settled === 0 ? { outcome: 'settled' } : { outcome: 'given-back', nextEntry: settled };
}

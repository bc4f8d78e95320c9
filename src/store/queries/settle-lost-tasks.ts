import type { Run } from '../run.js';
import type { LostTaskOutcome } from '../lost-workers.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './settle-lost-tasks.sql');

const outcomes: Record<number, LostTaskOutcome> = { 0: { outcome: 'settled' }, [-1]: { outcome: 'locked' } };

export async function settleLostTasks(
  run: Run,
  worker: string,
  tasks: TaskEntry[],
): Promise<LostTaskOutcome[]> {
  if (tasks.length === 0) return [];
  const ids = tasks.map(({ task }) => task);
  const entries = tasks.map(({ entry }) => entry);
  const rows = await run<{ nextEntry: number | null }>(sql, [worker, ids, entries]);
  return tasks.map((_, index) => {
    const nextEntry = rows[index]?.nextEntry ?? null;
    if (nextEntry === null) return { outcome: 'refused' };
    return outcomes[nextEntry] ?? { outcome: 'given-back', nextEntry };
  });
}

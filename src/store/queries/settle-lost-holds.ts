import type { LostHoldOutcome } from '../lost-workers.js';
import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './settle-lost-holds.sql');

const outcomes: Record<number, LostHoldOutcome> = { 0: 'over', [-1]: 'unsettled', [-2]: 'later' };

export async function settleLostHolds(
  run: Run,
  worker: string,
  holds: TaskEntry[],
): Promise<LostHoldOutcome[] | 'refused'> {
  if (holds.length === 0) return [];
  const ids = holds.map(({ task }) => task);
  const entries = holds.map(({ entry }) => entry);
  const rows = await run<{ nextEntry: number }>(sql, [worker, ids, entries]);
  if (rows.length !== holds.length) return 'refused';
  return rows.map(({ nextEntry }) => outcomes[nextEntry] ?? nextEntry);
}

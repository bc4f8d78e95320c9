import type { Run } from '../run.js';
import type { RefusedMark, TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './mark-admitted.sql');

export async function markAdmitted(run: Run, epoch: string, tasks: TaskEntry[]): Promise<RefusedMark[]> {
  if (tasks.length === 0) return [];
  return run<RefusedMark>(sql, [epoch, tasks.map(({ task }) => task), tasks.map(({ entry }) => entry)]);
}

import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './clear-take-outs.sql');

export async function clearTakeOuts(run: Run, gone: TaskEntry[], stale: TaskEntry[]): Promise<void> {
  const marked = [...gone, ...stale];
  if (marked.length === 0) return;
  const columns = [marked.map(({ task }) => task), marked.map(({ entry }) => entry)];
  await run(sql, [...columns, marked.map((_, index) => index >= gone.length)]);
}

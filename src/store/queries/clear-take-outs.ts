import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './clear-take-outs.sql');

export async function clearTakeOuts(run: Run, marked: TaskEntry[]): Promise<void> {
  if (marked.length > 0) await run(sql, [marked.map(({ task }) => task), marked.map(({ entry }) => entry)]);
}

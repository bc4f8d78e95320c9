import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './write-progress.sql');

export async function writeProgress(
  run: Run,
  worker: string,
  tasks: (TaskEntry & { progress: unknown[] })[],
): Promise<void> {
  if (tasks.length === 0) return;
  await run(sql, [
    worker,
    tasks.map(({ task }) => task),
    tasks.map(({ entry }) => entry),
    tasks.map(({ progress }) => JSON.stringify(progress)),
  ]);
}

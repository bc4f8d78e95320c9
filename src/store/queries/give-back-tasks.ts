import type { Run } from '../run.js';
import type { GiveBackOutcome, TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './give-back-tasks.sql');

/** The next entry of a task that has none. */
const canceled = 0;

export async function giveBackTasks(
  run: Run,
  worker: string,
  tasks: TaskEntry[],
): Promise<GiveBackOutcome[]> {
  if (tasks.length === 0) return [];
  const values = [worker, tasks.map(({ task }) => task), tasks.map(({ entry }) => entry)];
  const rows = await run<{ task: string; nextEntry: number; paused: boolean }>(sql, values);
  const given = new Map(rows.map((row) => [row.task, row]));
  return tasks.map(({ task, entry }) => {
    const { nextEntry, paused = false } = given.get(task) ?? {};
    if (nextEntry === canceled) return { task, entry, nextEntry: 'canceled' };
    if (nextEntry !== entry + 1) return { task, entry, nextEntry: 'refused' };
    return paused ? { task, entry, nextEntry, paused } : { task, entry, nextEntry };
  });
}

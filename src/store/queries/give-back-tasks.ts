import type { Run } from '../run.js';
import type { GiveBack, GiveBackOutcome } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './give-back-tasks.sql');

/** The next entry of a task that has none. */
const canceled = 0;

export async function giveBackTasks(run: Run, worker: string, tasks: GiveBack[]): Promise<GiveBackOutcome[]> {
  if (tasks.length === 0) return [];
  const rows = await run<{ task: string; nextEntry: number; rollsBack: boolean; paused: boolean }>(sql, [
    worker,
    tasks.map(({ task }) => task),
    tasks.map(({ entry }) => entry),
    tasks.map(({ rollBack }) => rollBack === true),
  ]);
  const given = new Map(rows.map((row) => [row.task, row]));
  return tasks.map(({ task, entry }) => {
    const { nextEntry, rollsBack = false, paused = false } = given.get(task) ?? {};
    if (nextEntry === canceled) return { task, entry, nextEntry: 'canceled', rollsBack };
    if (nextEntry !== entry + 1) return { task, entry, nextEntry: 'refused', rollsBack: false };
    return paused ? { task, entry, nextEntry, rollsBack, paused } : { task, entry, nextEntry, rollsBack };
  });
}

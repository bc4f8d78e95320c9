import type { Run } from '../run.js';
import type { TaskRow } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { isTaskId } from '../task-id.js';
import { taskRow, type StoredTask } from '../task-row.js';

const sql = sqlFile(import.meta.url, './get-tasks.sql');

/** Each may bring a payload and a result of 1 MiB. */
const tasksPerQuery = 100;

interface Asked {
  id: string;
  answer(row: TaskRow | null): void;
  fail(error: unknown): void;
}

/**
 * Reads single tasks. Whoever asks while a query is under way shares the next one, so that thousands who wait for
 * as many tasks need neither as many round trips nor as many connections.
 */
export function taskReader(run: Run): (id: string) => Promise<TaskRow | null> {
  let asked: Asked[] = [];
  let reading = false;

  const read = async (batch: Asked[]): Promise<void> => {
    try {
      const stored = await run<StoredTask>(sql, [[...new Set(batch.map(({ id }) => id))]]);
      const rows = new Map(stored.map((task) => [task.id, task]));
      for (const { id, answer } of batch) {
        const task = rows.get(id.toLowerCase());
        answer(task === undefined ? null : taskRow(task));
      }
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  };
  const readAll = async (): Promise<void> => {
    reading = true;
    // Those who ask in the same turn come along.
    await Promise.resolve();
    while (asked.length > 0) await read(asked.splice(0, tasksPerQuery));
    reading = false;
  };

  return (id) => {
    if (!isTaskId(id)) return Promise.resolve(null);
    return new Promise((answer, fail) => {
      asked.push({ id, answer, fail });
      if (!reading) void readAll();
    });
  };
}

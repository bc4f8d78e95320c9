import type { Run } from '../run.js';
import type { NewTask, TaskInstead } from '../store.js';
import { InvalidTask } from '../../errors.js';
import { sqlFile } from '../sql-file.js';
import { sqlState } from '../store-error.js';
import { taskRow, type StoredTask } from '../task-row.js';

const plain = sqlFile(import.meta.url, './insert-tasks.sql');
const keyed = sqlFile(import.meta.url, './insert-keyed-tasks.sql');

/** What PostgreSQL says to a value that does not fit: the caller's checks are the ones with good messages. */
const refusals = ['22003', '22007', '22008', '22P02', '22P05', '23502', '23514'];

interface StoredInstead extends StoredTask {
  given: string | null;
}

export async function insertTasks(run: Run, tasks: NewTask[], notify: boolean): Promise<TaskInstead[]> {
  if (tasks.length === 0) return [];
  const values = [JSON.stringify(tasks), notify];
  if (tasks.every(({ uniqueKey }) => uniqueKey === null)) {
    await refusalAsInvalidTask(run(plain, values));
    return [];
  }
  const rows = await refusalAsInvalidTask(run<StoredInstead>(keyed, values));
  return rows.flatMap(({ given, ...task }) => (given === null ? [] : [{ given, task: taskRow(task) }]));
}

/** Throws InvalidTask where PostgreSQL refused what an insert was given. */
export async function refusalAsInvalidTask<T>(insert: Promise<T>): Promise<T> {
  try {
    return await insert;
  } catch (error) {
    if (!(error instanceof Error) || !refusals.includes(sqlState(error) ?? '')) throw error;
    throw new InvalidTask(`PostgreSQL cannot store a task: ${error.message}`, { cause: error });
  }
}

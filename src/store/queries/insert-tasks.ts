import type { Run } from '../run.js';
import type { NewTask } from '../store.js';
import { InvalidTask } from '../../errors.js';
import { sqlFile } from '../sql-file.js';
import { sqlState } from '../store-error.js';

const sql = sqlFile(import.meta.url, './insert-tasks.sql');

/** What PostgreSQL says to a value that does not fit: the caller's checks are the ones with good messages. */
const refusals = ['22003', '22007', '22008', '22P02', '22P05', '23502', '23514'];

export async function insertTasks(run: Run, tasks: NewTask[], notify: boolean): Promise<void> {
  if (tasks.length === 0) return;
  await refusalAsInvalidTask(run(sql, [JSON.stringify(tasks), notify]));
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

import type { Run } from '../run.js';
import type { InsertRunning, InsertRunningOutcome } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { taskRow, type StoredTask } from '../task-row.js';
import { refusalAsInvalidTask } from './insert-tasks.js';

const sql = sqlFile(import.meta.url, './insert-running.sql');

interface InsertedRow extends StoredTask {
  answer: 'running' | 'reaped' | 'epoch' | 'void';
}

export async function insertRunning(
  run: Run,
  { worker, epoch, number, fence, task, lock }: InsertRunning,
): Promise<InsertRunningOutcome> {
  const rows = await refusalAsInvalidTask(
    run<InsertedRow>(sql, [worker, epoch, number, fence, JSON.stringify({ ...task, lock })]),
  );
  const row = rows[0] as InsertedRow;
  return row.answer === 'running' ? { status: 'running', row: taskRow(row) } : { status: row.answer };
}

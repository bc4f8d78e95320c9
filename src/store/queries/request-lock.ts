import type { Run } from '../run.js';
import type { LockRequest } from '../store.js';
import { sqlFile } from '../sql-file.js';
import { refusalAsInvalidTask } from './insert-tasks.js';

const sql = sqlFile(import.meta.url, './request-lock.sql');

type Outcome = 'requested' | 'reaped' | 'void';

export async function requestLock(run: Run, { requester, number, lock }: LockRequest): Promise<Outcome> {
  const rows = await refusalAsInvalidTask(
    run<{ outcome: Outcome }>(sql, [requester, number, JSON.stringify(lock)]),
  );
  return (rows[0] as { outcome: Outcome }).outcome;
}

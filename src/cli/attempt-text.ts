import type { Task } from '../tasks/task.js';
import type { AttemptRecord } from '../store/attempt-record.js';
import { durationText, ownerName, timeText } from './texts.js';

/** An attempt in one line: its number, how and when it ended, where it ran. */
export function attemptText({ attempt, startedAt, endedAt, worker, outcome, error }: AttemptRecord): string {
  const took =
    startedAt === null ? '' : ` after ${durationText(Date.parse(endedAt) - Date.parse(startedAt))}`;
  const where = worker === null ? '' : ` on ${ownerName(worker)}`;
  const why = error === null ? '' : `, ${errorText(error)}`;
  return `${attempt} ${outcome} at ${timeText(endedAt)}${took}${where}${why}`;
}

export function errorText({ code, message, reason, rollback }: NonNullable<Task['error']>): string {
  const undone = rollback === undefined ? '' : `; its roll-back: ${rollback.code}: ${rollback.message}`;
  return `${code}: ${message}${undone}${reason === undefined ? '' : ` (${reason})`}`;
}

import type { Task } from '../tasks/task.js';
import { attemptText, errorText } from './attempt-text.js';
import { textFields } from './text-table.js';
import { ownerName, timeText, tookText } from './texts.js';

/** A task for people: only the fields that say something. */
export function taskText(task: Task): string {
  const fields: [string, string | null][] = [
    ['id', task.id],
    ['name', task.name],
    ['state', task.state],
    ['queue', task.queue],
    ['priority', task.priority === 0 ? null : String(task.priority)],
    ['payload', task.payload === null ? null : JSON.stringify(task.payload)],
    ['exclusive', listText(task.exclusive)],
    ['shared', listText(task.shared)],
    ['attempt', task.maxAttempts === null ? String(task.attempt) : `${task.attempt} of ${task.maxAttempts}`],
    ['crashes', task.crashes === 0 ? null : String(task.crashes)],
    ['worker', ownerName(task.worker)],
    ['fence', task.fence],
    ['parent', task.parent],
    ['unique key', task.uniqueKey],
    ['created', timeText(task.createdAt)],
    ['due', task.runAt === null ? null : timeText(task.runAt)],
    ['started', task.startedAt === null ? null : timeText(task.startedAt)],
    ['finished', task.finishedAt === null ? null : timeText(task.finishedAt)],
    ['took', tookText(task)],
    ['progress', task.progress.length === 0 ? null : JSON.stringify(task.progress)],
    ['result', task.result === null ? null : JSON.stringify(task.result)],
    ['error', task.error === null ? null : errorText(task.error)],
    ['then', task.rollback === null ? null : `${task.rollback.outcome}, by ${timeText(task.rollback.until)}`],
    ...task.attempts.map((record, at): [string, string] => [at === 0 ? 'attempts' : '', attemptText(record)]),
  ];
  return textFields(
    fields.filter((field): field is [string, string] => field[1] !== null && field[1] !== ''),
  );
}

function listText(names: string[]): string {
  return names.join(', ');
}

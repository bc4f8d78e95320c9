import { InvalidTask } from '../errors.js';

/** Whether PostgreSQL would take the text as a uuid in its usual form. */
export function isTaskId(id: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(id);
}

/** Throws InvalidTask where a cursor is neither null nor an id. */
export function checkCursor(after: string | null): void {
  if (after === null || isTaskId(after)) return;
  throw new InvalidTask(`The cursor must be the id of a task; got ${JSON.stringify(after)}.`);
}

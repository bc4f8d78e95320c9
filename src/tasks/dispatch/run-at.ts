import { InvalidTask } from '../../errors.js';
import { shown } from '../../shown.js';

const iso8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** The moment as ISO 8601 in UTC. A text must carry its zone: without one it means another moment elsewhere. */
export function runAtText(runAt: unknown, what: string): string {
  const date = runAt instanceof Date ? runAt : new Date(dateText(runAt, what));
  const year = date.getUTCFullYear();
  if (year >= 1970 && year <= 9999) return date.toISOString();
  throw new InvalidTask(`${what} must be a moment in the years 1970 … 9999; got ${shown(runAt)}.`);
}

function dateText(runAt: unknown, what: string): string {
  if (typeof runAt === 'string' && iso8601.test(runAt)) return runAt;
  throw new InvalidTask(
    `${what} must be a Date or ISO 8601 text with its zone, such as "2030-01-31T08:00:00Z"; got ${shown(runAt)}.`,
  );
}

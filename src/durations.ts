import { InvalidTask } from './errors.js';
import { shown } from './shown.js';

/** `"250ms"`, `"10s"`, `"5m"`, `"2h"`, or milliseconds. */
export type Duration = string | number;

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The duration in milliseconds. Throws InvalidTask, naming `what`, where it is malformed or negative. */
export function milliseconds(duration: Duration, what: string): number {
  if (typeof duration === 'number') {
    if (Number.isFinite(duration) && duration >= 0) return duration;
  } else if (typeof duration === 'string') {
    // Flags and variables are texts, also where they say milliseconds.
    const [, amount, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(duration) ?? [];
    if (amount !== undefined) return Number(amount) * (units[unit] ?? 0);
  }
  throw new InvalidTask(
    `${what} must be a duration such as "250ms", "10s", "5m" or "2h", or milliseconds; got ${shown(duration)}.`,
  );
}

/** The pause after so many failures in a row (from 1): `initialMs` doubled each time, at most `maxMs`. */
export interface Backoff {
  initialMs: number;
  maxMs: number;
}

/** For servers that do not answer: with the pauses of a connection, whoever waits is back within 5 s of a repair. */
export const outageBackoff: Backoff = { initialMs: 100, maxMs: 2_500 };

/**
 * Up to a quarter less than the doubled pause, at random: what failed together does not come back together.
 * Never more than `maxMs`.
 */
export function backoffMs(backoff: Backoff, failures: number, random: () => number = Math.random): number {
  const doubled = backoff.initialMs * 2 ** Math.min(Math.max(failures - 1, 0), 40);
  return Math.round(Math.min(doubled, backoff.maxMs) * (1 - random() / 4));
}

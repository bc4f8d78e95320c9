import { setTimeout as delay } from 'node:timers/promises';

/** In milliseconds. A condition often asks a server: what takes long is not asked for all the time. */
const shortestPauseMs = 10;
const longestPauseMs = 100;

/**
 * Polls until `condition` gives something truthy, and resolves with that. A condition that throws counts as not
 * yet met; what it threw last is the `cause` of the error thrown after `limitMs`.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  what: string,
  limitMs = 10_000,
): Promise<NonNullable<T>> {
  const started = performance.now();
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const waitedMs = performance.now() - started;
    if (waitedMs >= limitMs) throw new Error(`Waited ${limitMs} ms in vain until ${what}.`, { cause });
    await delay(Math.min(Math.max(shortestPauseMs, waitedMs / 10), longestPauseMs));
  }
}

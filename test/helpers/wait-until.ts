import { setTimeout as delay } from 'node:timers/promises';

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
    if (performance.now() - started >= limitMs) {
      throw new Error(`Waited ${limitMs} ms in vain until ${what}.`, { cause });
    }
    await delay(10);
  }
}

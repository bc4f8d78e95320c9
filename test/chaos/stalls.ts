import type { Stall } from './history.js';
import { now } from './clock.js';

const everyMs = 50;
const least = 50_000;

/** Notes when a timer of this process rings late: the others had to wait then, too. */
export function watchStalls(): { stalls: Stall[]; stop(): void } {
  const stalls: Stall[] = [];
  let due = now() + everyMs * 1_000;
  const timer = setInterval(() => {
    const at = now();
    if (at - due > least) stalls.push({ at, late: at - due });
    due = at + everyMs * 1_000;
  }, everyMs);
  return { stalls, stop: () => clearInterval(timer) };
}

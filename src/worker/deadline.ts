import { uptime } from 'node:os';

/**
 * A point in time on two clocks of this machine, in milliseconds. Both read the same in every process and
 * thread, and no change of the date moves them; only the boot clock goes on while the machine is suspended.
 */
export interface Moment {
  monotonicMs: number;
  bootMs: number;
}

export function currentMoment(): Moment {
  return { monotonicMs: Number(process.hrtime.bigint()) / 1e6, bootMs: uptime() * 1_000 };
}

export function momentAfter(moment: Moment, ms: number): Moment {
  return { monotonicMs: moment.monotonicMs + ms, bootMs: moment.bootMs + ms };
}

/** Judged by whichever clock has come further. */
export function isPast(moment: Moment, now: Moment = currentMoment()): boolean {
  return msUntil(moment, now) <= 0;
}

export function msUntil(moment: Moment, now: Moment = currentMoment()): number {
  return Math.min(moment.monotonicMs - now.monotonicMs, moment.bootMs - now.bootMs);
}

/**
 * How long before the end of its TTL a worker counts itself dead, in milliseconds. Within it a passed deadline
 * is noticed and children are killed, before anyone may reap the worker.
 */
export function fencingMarginMs(ttlMs: number): number {
  return Math.min(Math.max(ttlMs / 10, 250), ttlMs / 2);
}

/** How often to look whether a deadline has passed while the timers stood still, in milliseconds. */
export function checkIntervalMs(ttlMs: number): number {
  return fencingMarginMs(ttlMs) / 3;
}

/**
 * Calls `check` when the deadline of the moment passes, and every `intervalMs` besides, until it is stopped: timers
 * stand still in suspend, so none is set for the full length of a deadline.
 */
export function checkAtDeadline(
  deadline: () => Moment | null,
  check: () => void,
  intervalMs: number,
): { stop(): void } {
  let timer: NodeJS.Timeout;
  function sleep(): void {
    const next = deadline();
    const ms = next === null ? intervalMs : Math.min(msUntil(next), intervalMs);
    timer = setTimeout(wake, Math.max(ms, 5));
  }
  function wake(): void {
    // First, so that `check` may stop it.
    sleep();
    check();
  }
  sleep();
  return { stop: () => clearTimeout(timer) };
}

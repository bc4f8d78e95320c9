import type { History, ProcessLife, Run, Span } from '../history.js';
import { second } from '../clock.js';

/** How long code of a process that was frozen beyond its deadline may go on after it is woken. */
export const wakingLimit: number = second;

/** The process that holds what the run uses. A pid may come again, so the latest that had begun by then. */
export function ownerOf({ processes }: History, run: Run): ProcessLife | undefined {
  return processes.findLast(({ pid, startedAt }) => pid === run.owner && startedAt <= run.startAt);
}

export function isInline({ pid, owner }: Run): boolean {
  return pid === owner;
}

/**
 * Frozen for so long that others may have taken over by the end of it. They count from when they saw its last beat,
 * which may have been a third of the TTL before.
 */
export function mayBeTakenOver({ ttl }: History, { from, to }: Span): boolean {
  return to - from > ttl / 2;
}

/** Written by code of a process that had just been woken, before it was stopped: only its fence protects from that. */
export function isWaking(history: History, run: Run, at: number): boolean {
  if (!isInline(run)) return false;
  const frozen = ownerOf(history, run)?.frozen ?? [];
  return frozen.some((span) => mayBeTakenOver(history, span) && at >= span.to && at <= span.to + wakingLimit);
}

/** The API process has the TTL of a process that sets none: 15 s. */
export function ttlOf({ ttl }: History, kind: ProcessLife['kind']): number {
  return kind === 'api' ? 15 * second : ttl;
}

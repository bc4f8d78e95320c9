import type { History, ProcessLife, Run, Span, Violation } from '../history.js';
import { second } from '../clock.js';
import { isInline, ownerOf, wakingLimit } from './lives.js';
import { nameOf } from './uses.js';

/** What it costs on any machine to notice, and to write a last line. */
const slack = second;

/**
 * G1, before anybody has taken over: a process that was frozen, cut off from PostgreSQL or killed has nothing running,
 * children included, once its TTL is over; and a frozen one is stopped first thing on waking.
 */
export function stoppedInTime(history: History): Violation[] {
  return history.runs.flatMap((run) => {
    const owner = ownerOf(history, run);
    if (owner === undefined) return [];
    const late = run.evidence.find((at) => mustHaveStopped(history, run, owner, at));
    if (late === undefined) return [];
    const text = `${nameOf(run)} went on in ${owner.name}, whose time was over.`;
    return [{ property: 'stopped in time', text, at: late, tasks: [run.task] }];
  });
}

function mustHaveStopped(history: History, run: Run, owner: ProcessLife, at: number): boolean {
  const { ttl } = history;
  const over = (from: number): boolean =>
    run.startAt < from && at > from + ttl + slack + 2 * longestStall(history, from, at);
  const isOver = (span: Span): boolean => span.to - span.from > ttl && over(span.from);
  if (owner.withoutPostgres.some((span) => isOver(span) && !isFrozenWithin(owner, span))) return true;
  if (owner.killedAt !== null && over(owner.killedAt)) return true;
  return owner.frozen.some((span) => {
    if (!isOver(span)) return false;
    // Itself, it can do nothing before it is woken.
    return !isInline(run) || at > span.to + wakingLimit;
  });
}

/** A process that is given no time cannot stop either; it may have had to wait longer than the harness had. */
function longestStall({ stalls }: History, from: number, to: number): number {
  return Math.max(0, ...stalls.filter(({ at }) => at >= from && at <= to).map(({ late }) => late));
}

/** Then it is judged as a frozen one. */
function isFrozenWithin(owner: ProcessLife, span: Span): boolean {
  return owner.frozen.some(({ from, to }) => from < span.to && to > span.from);
}

import type { History, ProcessLife, Run, Violation } from '../history.js';
import { isInline, ownerOf, ttlOf } from './lives.js';
import { nameOf } from './uses.js';

/**
 * What runs writes a line for every 50 ms in which it is given time. So many it may write before it is noticed that its
 * time is over: counted in lines, since a process that the machine keeps waiting can neither stop nor write.
 */
const linesToNotice = 5;

/**
 * G1, before anybody has taken over: a process that was frozen, cut off from PostgreSQL or killed has nothing running,
 * children included, once its TTL is over; and a frozen one is stopped first thing on waking.
 */
export function stoppedInTime(history: History): Violation[] {
  return history.runs.flatMap((run) => {
    const owner = ownerOf(history, run);
    if (owner === undefined) return [];
    const lates = endsOfTime(history, run, owner).flatMap((end) => lineTooMany(run, end) ?? []);
    if (lates.length === 0) return [];
    const text = `${nameOf(run)} went on in ${owner.name}, whose time was over.`;
    return [{ property: 'stopped in time', text, at: Math.min(...lates), tasks: [run.task] }];
  });
}

function lineTooMany(run: Run, end: number): number | undefined {
  return run.startAt < end ? run.evidence.filter((at) => at > end)[linesToNotice] : undefined;
}

/** When nothing of it may run any more: its last beat that can have been confirmed was asked for before. */
function endsOfTime(history: History, run: Run, owner: ProcessLife): number[] {
  const { frozen, withoutPostgres, killedAt, kind } = owner;
  const ttl = ttlOf(history, kind);
  const isOver = ({ from, to }: { from: number; to: number }): boolean => to - from > ttl;
  // Where it was frozen meanwhile, it is judged by that alone.
  const cutOff = withoutPostgres.filter(
    (span) => isOver(span) && !frozen.some(({ from, to }) => from < span.to && to > span.from),
  );
  return [
    ...cutOff.map(({ from }) => from + ttl),
    // Itself, it can do nothing before it is woken.
    ...frozen.filter(isOver).map(({ from, to }) => (isInline(run) ? to : from + ttl)),
    ...(killedAt === null ? [] : [killedAt + ttl]),
  ];
}

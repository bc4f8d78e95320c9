import type { Fault, History, ProcessLife, Recovery, Span, Violation } from '../history.js';
import { second } from '../clock.js';
import { ttlOf } from './lives.js';

/** For the clean-up itself, and for how often the harness looks. */
const slack = 2 * second;

/** Before it was killed: so long another process must have run, to have been observing by then for sure. */
const settledIn = 10 * second;

/** They keep nobody from observing. */
const harmless = new Set(['cancel many', 'pause queue', 'flush scripts']);

/**
 * G4: what a killed process had is free within its TTL and one observation period; counted anew from the end of each
 * fault that came meanwhile and may have kept everybody from observing.
 */
export function recoveredInTime(history: History): Violation[] {
  return history.recoveries.flatMap((recovery) => {
    const { process, incarnation, killedAt, freeAt } = recovery;
    const { from, faults } = countedFrom(history, recovery);
    const limit = from + limitOf(history, recovery);
    if (freeAt !== null && freeAt <= limit) return [];
    const took = freeAt === null ? 'never' : `${seconds(freeAt - killedAt)} after it was killed`;
    const meanwhile =
      faults === 0
        ? 'with no other fault meanwhile'
        : `${seconds(freeAt === null ? 0 : freeAt - from)} after the last of ${faults} faults meanwhile`;
    const text = `What ${process}, incarnation ${incarnation}, had was free ${took}, ${meanwhile}.`;
    return [{ property: 'recovered in time', text, at: killedAt, tasks: [] }];
  });
}

/** Other faults that came before it was to be recovered, each counted from its end. */
export function countedFrom(history: History, recovery: Recovery): { from: number; faults: number } {
  const hitAll = history.faults.filter((fault) => hitsAll(fault));
  const counted = countedAfter(history, recovery, hitAll);
  const until = Math.min(recovery.freeAt ?? Infinity, counted.from + limitOf(history, recovery));
  const meanwhile = { from: recovery.killedAt, to: until };
  const others = history.processes.filter(({ incarnation }) => incarnation !== recovery.incarnation);
  if (others.some((life) => observes(history, life, meanwhile))) return counted;
  const harmful = history.faults.filter(({ kind }) => !harmless.has(kind));
  return countedAfter(history, recovery, harmful);
}

function hitsAll({ kind, target }: Fault): boolean {
  return target === '' && kind !== 'kill all workers but one' && !harmless.has(kind);
}

/** Whether it ran all that time, and long enough before, and no fault came to it. */
function observes({ faults }: History, life: ProcessLife, { from, to }: Span): boolean {
  if (life.startedAt > from - settledIn || (life.exitedAt ?? Infinity) < to) return false;
  return !faults.some((fault) => fault.target === life.name && fault.from <= to && fault.to >= from);
}

function countedAfter(
  history: History,
  recovery: Recovery,
  faults: Fault[],
): { from: number; faults: number } {
  const { killedAt, freeAt } = recovery;
  const limit = ttlOfKilled(history, recovery) + history.observation;
  let from = killedAt;
  let count = 0;
  for (const fault of faults.toSorted((a, b) => a.from - b.from)) {
    const isItself = fault.kind.startsWith('kill') && fault.from <= killedAt && fault.to >= killedAt;
    if (isItself || fault.to < killedAt) continue;
    if (fault.from > Math.min(freeAt ?? Infinity, from + limit)) continue;
    from = Math.max(from, fault.to);
    count++;
  }
  return { from, faults: count };
}

function limitOf(history: History, recovery: Recovery): number {
  return ttlOfKilled(history, recovery) + history.observation + slack;
}

function ttlOfKilled(history: History, { process }: Recovery): number {
  return ttlOf(history, process === 'api' ? 'api' : 'worker');
}

function seconds(microseconds: number): string {
  return `${(microseconds / second).toFixed(1)} s`;
}

import type { History, Recovery, Violation } from '../history.js';
import { second } from '../clock.js';
import { ttlOf } from './lives.js';

/** For the clean-up itself, and for how often the harness looks. */
const slack = 2 * second;

/**
 * G4: what a killed process had is free within its TTL and one observation period; counted anew from the end of each
 * fault that came meanwhile, since that may have kept everybody from observing.
 */
export function recoveredInTime(history: History): Violation[] {
  return history.recoveries.flatMap((recovery) => {
    const { process, incarnation, killedAt, freeAt } = recovery;
    const { from, faults } = countedFrom(history, recovery);
    const limit = from + ttlOfKilled(history, recovery) + history.observation + slack;
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
  const { faults, observation } = history;
  const { killedAt, freeAt } = recovery;
  const ttl = ttlOfKilled(history, recovery);
  let from = killedAt;
  let count = 0;
  const until = freeAt ?? Number.MAX_SAFE_INTEGER;
  for (const fault of faults.toSorted((a, b) => a.from - b.from)) {
    const isItself = fault.kind.startsWith('kill') && fault.from <= killedAt && fault.to >= killedAt;
    if (isItself || fault.to < killedAt) continue;
    if (fault.from > Math.min(until, from + ttl + observation)) continue;
    from = Math.max(from, fault.to);
    count++;
  }
  return { from, faults: count };
}

function ttlOfKilled(history: History, { process }: Recovery): number {
  return ttlOf(history, process === 'api' ? 'api' : 'worker');
}

function seconds(microseconds: number): string {
  return `${(microseconds / second).toFixed(1)} s`;
}

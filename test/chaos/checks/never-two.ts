import type { History, Run, Violation } from '../history.js';
import { isInline, isWaking, ownerOf } from './lives.js';
import { conflict, nameOf, usesByResource, type Use } from './uses.js';

/**
 * G1: no run starts on a resource while one that conflicts with it still runs. A run lasts until the last thing that it
 * wrote; an inline one without an end, until its process was killed. What the code of a frozen process writes while it
 * is being woken does not count here: that its fence is the smaller one is for `fencesGrow` to show.
 */
export function neverTwo(history: History): Violation[] {
  const violations: Violation[] = [];
  for (const [resource, uses] of usesByResource(history.runs)) {
    const lasting: { use: Use; until: number }[] = [];
    for (const use of uses) {
      for (const earlier of lasting) {
        if (!conflict(use, earlier.use) || earlier.until <= use.run.startAt) continue;
        const lateMs = Math.round((earlier.until - use.run.startAt) / 1_000);
        violations.push({
          property: 'never two',
          text: `On ${resource}, ${nameOf(use.run)} started while ${nameOf(earlier.use.run)} ran, which went on for ${lateMs} ms.`,
          at: use.run.startAt,
          resource,
          tasks: [earlier.use.run.task, use.run.task],
        });
      }
      const until = lastMoment(history, use.run);
      const still = lasting.filter((one) => one.until > use.run.startAt);
      lasting.splice(0, lasting.length, ...still, { use, until });
    }
  }
  return violations;
}

function lastMoment(history: History, run: Run): number {
  const last = run.evidence.findLast((at) => !isWaking(history, run, at)) ?? run.startAt;
  return Math.max(last, killedWhileRunning(history, run) ?? 0);
}

/** Where nothing else can have ended it before. */
function killedWhileRunning(history: History, run: Run): number | null {
  if (run.endAt !== null || !isInline(run)) return null;
  const owner = ownerOf(history, run);
  if (owner === undefined || owner.killedAt === null) return null;
  const { killedAt, frozen, withoutPostgres } = owner;
  const mayBeFenced = [...frozen, ...withoutPostgres].some(
    ({ from, to }) => from < killedAt && to > killedAt - history.ttl,
  );
  return mayBeFenced ? null : killedAt;
}

import type { History, Violation } from '../history.js';
import { nameOf } from './uses.js';

/** Each (task, entry) runs once at most. */
export function onceAtMost({ runs }: History): Violation[] {
  const seen = new Set<string>();
  const violations: Violation[] = [];
  for (const run of runs) {
    const key = `${run.task} ${run.entry}`;
    if (seen.has(key)) {
      const text = `There is a second start: ${nameOf(run)}.`;
      violations.push({ property: 'once at most', text, at: run.startAt, tasks: [run.task] });
    }
    seen.add(key);
  }
  return violations;
}

import type { History, Violation } from '../history.js';
import { nameOf, usesByResource } from './uses.js';

/**
 * Per resource, an exclusive run has a larger fence than every one that started before it, and a shared run a larger one
 * than the last exclusive one.
 */
export function fencesGrow({ runs }: History): Violation[] {
  const violations: Violation[] = [];
  for (const [resource, uses] of usesByResource(runs)) {
    let largest = '';
    let largestExclusive = '';
    for (const { run, mode } of uses) {
      const before = mode === 'exclusive' ? largest : largestExclusive;
      if (run.fence <= before) {
        const text = `On ${resource}, ${nameOf(run)} came after one with fence ${before}.`;
        violations.push({ property: 'fences grow', text, at: run.startAt, resource, tasks: [run.task] });
      }
      if (run.fence > largest) largest = run.fence;
      if (mode === 'exclusive' && run.fence > largestExclusive) largestExclusive = run.fence;
    }
  }
  return violations;
}

import type { Dispatch, History, Run, Violation } from '../history.js';
import { conflict, nameOf, usesByResource, type Use } from './uses.js';

/**
 * G3: of two tasks that conflict on a resource, the one with the smaller place runs first. Judged are first runs with
 * entry 1, which have the place of their dispatch; and only where the commit of the one was confirmed before the other
 * was begun, since a place is drawn before its commit, and admission can only order what it sees.
 */
export function inOrder(history: History): Violation[] {
  const dispatches = new Map(history.dispatches.map((dispatch) => [dispatch.id, dispatch]));
  const judged = history.runs.filter((run) => run.entry === 1 && run.part === 'run');
  const violations: Violation[] = [];
  for (const [resource, uses] of usesByResource(judged)) {
    for (const [index, later] of uses.entries()) {
      for (const earlier of uses.slice(0, index)) {
        if (!conflict(earlier, later)) continue;
        const [first, second] = [dispatches.get(later.run.task), dispatches.get(earlier.run.task)];
        if (first === undefined || second === undefined || !wasSurelyFirst(first, second)) continue;
        violations.push(overtaken(resource, earlier, later));
      }
    }
  }
  return violations;
}

function wasSurelyFirst(one: Dispatch, other: Dispatch): boolean {
  if (one.place === null || other.place === null || one.committedAt === null) return false;
  return BigInt(one.place) < BigInt(other.place) && one.committedAt < other.begunAt;
}

function overtaken(resource: string, earlier: Use, later: Use): Violation {
  const { run }: { run: Run } = later;
  return {
    property: 'order',
    text: `On ${resource}, ${nameOf(earlier.run)} was served before ${nameOf(run)}, which was dispatched first.`,
    at: earlier.run.startAt,
    resource,
    tasks: [earlier.run.task, run.task],
  };
}

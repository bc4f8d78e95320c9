import type { History, ProcessLife, Recovery, Run } from './history.js';
import { ownerOf } from './checks/lives.js';

/** Whether a process had anything when it was killed: seen in the stores, or told by what ran in it. */
export function heldAnything({ processes, ...history }: History, { incarnation, held }: Recovery): boolean {
  if (held > 0) return true;
  const life = processes.find((one) => one.incarnation === incarnation);
  return life !== undefined && cutShort({ processes, ...history }, life).length > 0;
}

/**
 * How long after a kill each exclusive resource was used again, by a task that had been waiting for it: microseconds. It
 * may have had to wait for something else besides.
 */
export function takenAgain(history: History): number[] {
  const committed = new Map(history.dispatches.map(({ id, committedAt }) => [id, committedAt]));
  return history.processes.flatMap((life) => {
    const { killedAt } = life;
    if (killedAt === null) return [];
    const resources = new Set(cutShort(history, life).flatMap(({ exclusive }) => exclusive));
    return [...resources].flatMap((resource) => {
      const next = history.runs.find(({ startAt, exclusive, shared, task }) => {
        const waited = (committed.get(task) ?? Infinity) < killedAt;
        return startAt > killedAt && waited && (exclusive.includes(resource) || shared.includes(resource));
      });
      return next === undefined ? [] : [next.startAt - killedAt];
    });
  });
}

function cutShort(history: History, life: ProcessLife): Run[] {
  const { killedAt } = life;
  return history.runs.filter(
    (run) => run.endAt === null && run.startAt < (killedAt ?? 0) && ownerOf(history, run) === life,
  );
}

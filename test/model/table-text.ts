import type { TableState } from '../../src/locks/memory/table-state.js';

/**
 * The keyspace of the epoch in the record as a text. Left out: wake-ups (a poll is allowed wherever it would find
 * something), fences, times, and the absolute numbers of passes and of the order of entering.
 */
export function tableText(state: TableState): string {
  const { epoch } = state;
  if (epoch === null) return 'no epoch';
  const head = `${epoch.number}${epoch.status}${epoch.identity === state.identity ? '' : '!'}`;
  const space = state.keyspaces.get(epoch.number);
  if (space === undefined) return head;
  const byOrder = [...space.holds.values()].sort((a, b) => a.order - b.order);
  const holds = byOrder.map(
    (hold) =>
      `${hold.task},${hold.entry},${hold.status},${hold.owner},${hold.busy},${hold.exclusive.join('+')},${hold.shared.join('+')},${hold.lane},${Number(hold.place)}`,
  );
  const list = <T>(map: Map<string, T>, show: (value: T) => string): string =>
    [...map]
      .map(([key, value]) => `${key}=${show(value)}`)
      .sort()
      .join();
  return [
    head,
    holds.join('/'),
    list(space.waits, (waits) => [...waits].sort().join('+')),
    list(space.locks, (lock) => (typeof lock === 'string' ? lock : `~${[...lock].sort().join('+')}`)),
    list(space.queues, (queue) => [...queue].map(({ task, mode }) => `${task}${mode[0]}`).join('+')),
    list(space.ready, (ready) => [...ready].map(({ task }) => task).join('+')),
    list(space.registries, (registry) => [...registry].join('+')),
    [...space.owners].join(),
    [...space.marks].join(),
  ].join(';');
}

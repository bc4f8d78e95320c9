import type { Keyspace, TableState } from './table-state.js';

/** Forgets older epochs. Returns how many keys they had. */
export function unlinkEpochsBefore(state: TableState, epoch: string): number {
  let keys = 0;
  for (const space of state.keyspaces.values()) {
    if (BigInt(space.epoch) >= BigInt(epoch)) continue;
    keys += countKeys(space);
    state.keyspaces.delete(space.epoch);
  }
  return keys;
}

/** Counters included. */
function countKeys(space: Keyspace): number {
  const { holds, waits, locks, queues, ready, laneWakeUps, registries } = space;
  const maps = [holds, waits, locks, queues, ready, laneWakeUps, registries];
  const lists = [space.lanes, space.owners, space.marks].filter((list) => list.size > 0);
  const counters = [space.pass, space.order, space.fence, space.lanesVersion].filter(Boolean);
  return maps.reduce((count, map) => count + map.size, lists.length + counters.length);
}

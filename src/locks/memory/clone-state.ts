import type { Keyspace, TableState } from './table-state.js';

/** A state of its own that starts where this one is. */
export function cloneState(state: TableState): TableState {
  return {
    ...state,
    epoch: state.epoch && { ...state.epoch },
    keyspaces: mapValues(state.keyspaces, cloneKeyspace),
  };
}

function cloneKeyspace(space: Keyspace): Keyspace {
  return {
    ...space,
    holds: mapValues(space.holds, (hold) => ({ ...hold })),
    waits: mapValues(space.waits, (resources) => new Set(resources)),
    locks: mapValues(space.locks, (lock) => (typeof lock === 'string' ? lock : new Set(lock))),
    queues: mapValues(space.queues, (queue) => queue.clone()),
    ready: mapValues(space.ready, (ready) => ready.clone()),
    lanes: space.lanes.clone(),
    laneWakeUps: new Map(space.laneWakeUps),
    registries: mapValues(space.registries, (registry) => registry.clone()),
    owners: space.owners.clone(),
    marks: space.marks.clone(),
  };
}

function mapValues<V>(map: Map<string, V>, clone: (value: V) => V): Map<string, V> {
  return new Map([...map].map(([key, value]) => [key, clone(value)]));
}

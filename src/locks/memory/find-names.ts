import type { TableName } from '../table-audit.js';
import type { Keyspace } from './table-state.js';

export function findLanes({ lanes }: Keyspace): TableName[] {
  return [...lanes].map((name) => ({ kind: 'ready', name }));
}

export function findAllNames(space: Keyspace): TableName[] {
  const named = (kind: TableName['kind'], names: Iterable<string>): TableName[] =>
    [...names].map((name) => ({ kind, name }));
  return [
    ...named('hold', space.holds.keys()),
    ...named('waits', space.waits.keys()),
    ...named('lock', space.locks.keys()),
    ...named('queue', space.queues.keys()),
    ...named('ready', space.ready.keys()),
    ...named('registry', space.registries.keys()),
  ];
}

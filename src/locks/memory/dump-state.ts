import type { TableDump } from '../table-dump.js';
import { compareBytes } from './bytes.js';
import { createKeyspace, type Keyspace, type TableState } from './table-state.js';

/** The whole keyspace of one epoch, or null where that epoch is not the one in the record. */
export function dumpState(state: TableState, epoch: string): TableDump | null {
  const row = state.epoch;
  if (row === null || row.number !== epoch) return null;
  const space = state.keyspaces.get(epoch) ?? createKeyspace(epoch);
  return {
    epoch: { number: row.number, format: row.format, status: row.status },
    counters: {
      pass: String(space.pass),
      order: String(space.order),
      fence: String(space.fence),
      lanesVersion: String(space.lanesVersion),
    },
    holds: dumpHolds(space),
    ...dumpLocks(space),
    ready: inOrder(space.ready).map(([lane, ready]) => {
      const members = [...ready].map(({ priority, place, task }) => ({
        priority,
        member: `${place}:${task}`,
      }));
      return { lane, members };
    }),
    lanes: [...space.lanes],
    wakeUps: {
      admission: state.admissionWakeUps,
      lanes: inOrder(space.laneWakeUps).map(([lane, count]) => ({ lane, count })),
    },
    registries: inOrder(space.registries).map(([owner, tasks]) => ({ owner, tasks: [...tasks] })),
    owners: [...space.owners],
    marks: [...space.marks],
  };
}

function dumpHolds(space: Keyspace): TableDump['holds'] {
  return inOrder(space.holds).map(([task, hold]) => {
    const { entry, status, owner, fence, lane, priority, order, busy } = hold;
    const { exclusive, shared } = hold;
    const place = BigInt(hold.place).toString();
    const lists = { exclusive: [...exclusive], shared: [...shared] };
    return { task, entry, status, owner, fence, lane, priority, place, order, ...lists, busy };
  });
}

function dumpLocks(space: Keyspace): Pick<TableDump, 'waits' | 'locks' | 'queues'> {
  return {
    waits: inOrder(space.waits).map(([task, resources]) => {
      return { task, resources: [...resources].sort(compareBytes) };
    }),
    locks: inOrder(space.locks).map(([resource, lock]) =>
      typeof lock === 'string'
        ? { resource, mode: 'exclusive', tasks: [lock] }
        : { resource, mode: 'shared', tasks: [...lock].sort(compareBytes) },
    ),
    queues: inOrder(space.queues).map(([resource, queue]) => {
      const waiters = [...queue].map(({ task, mode, order }) => ({ task, mode, order }));
      return { resource, waiters };
    }),
  };
}

function inOrder<V>(map: Map<string, V>): [string, V][] {
  return [...map].sort(([a], [b]) => compareBytes(a, b));
}

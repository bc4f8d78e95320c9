import type { Keyspace, TableState } from '../../src/locks/memory/table-state.js';
import type { Rows, Transaction } from './rows.js';

/** The database, so that what is done to the copy is done to nothing else. */
export function copyOfRows(rows: Rows): Rows {
  return {
    ...rows,
    tasks: rows.tasks.map((task) => ({ ...task })),
    workers: new Map([...rows.workers].map(([key, worker]) => [key, { ...worker }])),
    names: new Map(rows.names),
    reaped: new Set(rows.reaped),
    stopped: new Set(rows.stopped),
    admission: copyOfTransaction(rows.admission),
    rebuild: copyOfTransaction(rows.rebuild),
  };
}

function copyOfTransaction(transaction: Transaction | null): Transaction | null {
  if (transaction === null) return null;
  const rows = new Map([...transaction.rows].map(([id, row]) => [id, { ...row }]));
  return { ...transaction, rows, deleted: new Set(transaction.deleted) };
}

export function copyOfTable(state: TableState): TableState {
  const keyspaces = new Map([...state.keyspaces].map(([epoch, space]) => [epoch, copyOfKeyspace(space)]));
  return { ...state, epoch: state.epoch && { ...state.epoch }, keyspaces };
}

function copyOfKeyspace(space: Keyspace): Keyspace {
  return {
    ...space,
    holds: valuesCopied(space.holds, (hold) => ({ ...hold })),
    waits: valuesCopied(space.waits, (waits) => new Set(waits)),
    locks: valuesCopied(space.locks, (lock) => (typeof lock === 'string' ? lock : new Set(lock))),
    queues: valuesCopied(space.queues, (queue) => queue.clone()),
    ready: valuesCopied(space.ready, (ready) => ready.clone()),
    registries: valuesCopied(space.registries, (registry) => registry.clone()),
    lanes: space.lanes.clone(),
    laneWakeUps: new Map(space.laneWakeUps),
    owners: space.owners.clone(),
    marks: space.marks.clone(),
  };
}

function valuesCopied<T>(map: Map<string, T>, copy: (value: T) => T): Map<string, T> {
  const copied = new Map<string, T>();
  for (const [key, value] of map) copied.set(key, copy(value));
  return copied;
}

import { EpochRefused } from '../lock-table.js';
import { createKeyspace, type Keyspace, type TableState } from './table-state.js';

/** One call: what a script of the Redis adapter does at once. */
export interface Call {
  readonly state: TableState;
  readonly space: Keyspace;
  readonly now: number;
  /** How many waiters it may still promote. */
  budget: number;
  /** Resources of holds that it has released or taken out. */
  workedOff: number;
}

/** Begins a call on the open epoch, or throws EpochRefused. */
export function openCall(state: TableState, epoch: string, now: number): Call {
  const row = rowOf(state, epoch);
  if (row.status === 'building') throw new EpochRefused('building', epoch);
  return newCall(state, epoch, now);
}

/** Begins a call on the epoch that is being built, or throws EpochRefused. */
export function buildingCall(state: TableState, epoch: string, now: number): Call {
  const row = rowOf(state, epoch);
  if (row.status !== 'building') throw new EpochRefused('other', epoch);
  return newCall(state, epoch, now);
}

/** The record of this very epoch, built on this very server. */
export function rowOf(state: TableState, epoch: string): NonNullable<TableState['epoch']> {
  const row = state.epoch;
  if (row === null) throw new EpochRefused('none', epoch);
  if (row.number !== epoch) throw new EpochRefused('other', epoch);
  if (row.identity !== state.identity) throw new EpochRefused('identity', epoch);
  return row;
}

function newCall(state: TableState, epoch: string, now: number): Call {
  let space = state.keyspaces.get(epoch);
  if (space === undefined) state.keyspaces.set(epoch, (space = createKeyspace(epoch)));
  return { state, space, now, budget: state.promotionLimit, workedOff: 0 };
}

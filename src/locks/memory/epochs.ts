import type { BuildingAnswer, BuildingHold, EpochRecord } from '../lock-table.js';
import { ownerText } from '../../owner.js';
import { rowOf, type Call } from './call.js';
import { addWaits, changeHold, drawOrder, setHold, setLock } from './hold-writes.js';
import { enteringHold, enteringOwnedHold } from './new-hold.js';
import { addToRegistry, listOwner } from './owner-writes.js';
import { grant, isCompatible, takeLock } from './promote.js';
import { eachResource, findResource } from './resources-of.js';
import type { Hold, TableState } from './table-state.js';

export function readEpoch(state: TableState): EpochRecord | null {
  const row = state.epoch;
  if (row === null) return null;
  const { number, format, status, identity } = row;
  return { epoch: number, format, status, identity, identityHolds: identity === state.identity };
}

export function beginEpoch(state: TableState, epoch: string, format: number): 'begun' | 'not-newer' {
  if (state.epoch !== null && BigInt(epoch) <= BigInt(state.epoch.number)) return 'not-newer';
  state.epoch = { number: epoch, format, status: 'building', identity: state.identity };
  return 'begun';
}

export function openEpoch(state: TableState, epoch: string): 'opened' | 'not-building' {
  const row = rowOf(state, epoch);
  if (row.status !== 'building') return 'not-building';
  row.status = 'open';
  return 'opened';
}

export function enterBuilding(call: Call, holds: readonly BuildingHold[]): BuildingAnswer[] {
  return holds.map((hold) => buildOne(call, hold));
}

function buildOne(call: Call, given: BuildingHold): BuildingAnswer {
  const { space } = call;
  const there = space.holds.get(given.task);
  if (there !== undefined && there.entry !== given.entry) {
    return { status: 'conflict', resource: findResource(there, () => true) ?? '' };
  }
  if (there !== undefined && there.status !== 'entering') return { status: 'entered' };
  // G1: two running tasks that conflict mean that something is broken; neither is entered over the other.
  const conflict = findResource(given, (name, mode) => !isCompatible(space, name, mode, given.task));
  if (conflict !== undefined) return { status: 'conflict', resource: conflict };
  const owner = given.owner && ownerText(given.owner);
  const order = there?.order ?? drawOrder(call);
  if (owner === null) buildGranted(call, enteringHold(call, given, order));
  else buildOwned(call, enteringOwnedHold(call, given, order, owner, given.fence), owner);
  return { status: 'entered' };
}

function buildGranted(call: Call, hold: Hold): void {
  setHold(call, hold);
  addWaits(call, hold);
  eachResource(hold, (resource, mode) => takeLock(call, resource, mode, hold.task));
  grant(call, hold);
}

function buildOwned(call: Call, hold: Hold, owner: string): void {
  listOwner(call, owner);
  addToRegistry(call, owner, hold.task);
  setHold(call, hold);
  eachResource(hold, (resource, mode) => setLock(call, resource, mode, hold.task));
  changeHold(call, hold, { status: 'owned' });
}

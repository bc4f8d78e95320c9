import { fenceText } from '../../fence.js';
import { ownerText } from '../../owner.js';
import type { OwnedHold } from '../lock-table.js';
import type { RegisterAnswer } from '../table-audit.js';
import { compareBytes } from './bytes.js';
import type { Call } from './call.js';
import { willWrite } from './hold-writes.js';
import { SortedList } from './sorted-list.js';

/* As in hold-writes.ts, each function is one write. */

/** A fence larger than all drawn before, in this epoch or an earlier one. */
export function drawFence(call: Call): string {
  willWrite(call);
  return fenceText(call.space.epoch, String(++call.space.fence));
}

export function addToRegistry(call: Call, owner: string, task: string): void {
  willWrite(call);
  const { registries } = call.space;
  let registry = registries.get(owner);
  if (registry === undefined) registries.set(owner, (registry = new SortedList(compareBytes)));
  registry.add(task);
}

export function dropFromRegistry(call: Call, owner: string, task: string): void {
  willWrite(call);
  const registry = call.space.registries.get(owner);
  registry?.delete(task);
  if (registry?.size === 0) call.space.registries.delete(owner);
}

export function listOwner(call: Call, owner: string): void {
  willWrite(call);
  call.space.owners.add(owner);
}

/** Refused while the owner's registry names a hold. */
export function unlistOwner(call: Call, owner: string): 'unlisted' | 'still-holds' {
  if (call.space.registries.has(owner)) return 'still-holds';
  willWrite(call);
  call.space.owners.delete(owner);
  return 'unlisted';
}

/** As two writes: an owner whose registry names a hold is listed. */
export function registerHold(call: Call, { task, entry, owner }: OwnedHold): RegisterAnswer {
  const hold = call.space.holds.get(task);
  if (hold === undefined) return 'gone';
  const text = ownerText(owner);
  if (hold.entry !== entry || hold.owner !== text) return 'stale';
  listOwner(call, text);
  addToRegistry(call, text, task);
  return 'registered';
}

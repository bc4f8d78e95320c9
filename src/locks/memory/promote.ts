import type { Mode } from '../../resources.js';
import type { Call } from './call.js';
import { addMark, changeHold, dropMark, dropWait, leaveQueue, setLock } from './hold-writes.js';
import { makeReady } from './ready-holds.js';
import type { Hold, Keyspace, Waiter } from './table-state.js';

/** G1: whether the lock admits this task in this mode. */
export function isCompatible(space: Keyspace, resource: string, mode: Mode, task: string): boolean {
  const lock = space.locks.get(resource);
  if (lock === undefined) return true;
  return mode === 'exclusive' ? lock === task : lock instanceof Set;
}

export function takeLock(call: Call, resource: string, mode: Mode, task: string): void {
  setLock(call, resource, mode, task);
  dropWait(call, task, resource);
}

/** G2: a hold is granted whole, when it waits for nothing any more. */
export function grant(call: Call, hold: Hold): void {
  makeReady(call, hold.lane, hold);
  changeHold(call, hold, { status: 'granted', grantedAt: call.now });
}

/**
 * G3: hands a resource to the heads of its queue, in order, as long as its lock admits them. Beyond the call's
 * budget a mark is left. Returns false where it left one.
 */
export function promote(call: Call, resource: string): boolean {
  const { space } = call;
  for (;;) {
    const head = space.queues.get(resource)?.first();
    const hold = head && trueHold(space, resource, head);
    const blocked = hold !== undefined && !isCompatible(space, resource, head!.mode, head!.task);
    if (head === undefined || blocked) {
      if (space.marks.has(resource)) dropMark(call, resource);
      return true;
    }
    if (call.budget === 0) {
      addMark(call, resource);
      return false;
    }
    call.budget -= 1;
    if (hold !== undefined) takeFor(call, resource, head, hold);
    leaveQueue(call, resource, head);
  }
}

/** What earlier calls left marked, in order of bytes, as far as the budget goes. */
export function workOffMarks(call: Call): void {
  for (;;) {
    const resource = call.space.marks.first();
    if (resource === undefined || !promote(call, resource)) return;
  }
}

function takeFor(call: Call, resource: string, head: Waiter, hold: Hold): void {
  takeLock(call, resource, head.mode, head.task);
  if (hold.status === 'queued' && !call.space.waits.has(head.task)) grant(call, hold);
}

/** The hold that a waiter stands for. A waiter that a died call left behind stands for none. */
export function trueHold(space: Keyspace, resource: string, head: Waiter): Hold | undefined {
  const hold = space.holds.get(head.task);
  if (hold === undefined || hold.owner !== null || hold.order !== head.order) return undefined;
  return isListed(hold[head.mode], resource) ? hold : undefined;
}

/** `resources` are sorted by code unit. */
function isListed(resources: readonly string[], resource: string): boolean {
  let low = 0;
  let high = resources.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = resources[middle] as string;
    if (other === resource) return true;
    if (other < resource) low = middle + 1;
    else high = middle;
  }
  return false;
}

import type { Mode } from '../../resources.js';
import type { Call } from './call.js';
import { SortedList } from './sorted-list.js';
import { compareOrder, type Hold, type Waiter } from './table-state.js';

/*
 * Each function is one write, as one command of a script is: it may be the last one of a call that dies, so the
 * order in which operations call them is part of the protocol.
 */

export function willWrite(call: Call): void {
  call.state.beforeWrite?.();
}

export function drawOrder(call: Call): number {
  willWrite(call);
  return ++call.space.order;
}

export function setHold(call: Call, hold: Hold): void {
  willWrite(call);
  call.space.holds.set(hold.task, hold);
}

export function changeHold(call: Call, hold: Hold, change: Partial<Hold>): void {
  willWrite(call);
  Object.assign(hold, change);
}

export function deleteHold(call: Call, task: string): void {
  willWrite(call);
  call.space.holds.delete(task);
}

export function addWaits(call: Call, hold: Hold): void {
  if (hold.exclusive.length + hold.shared.length === 0) return;
  willWrite(call);
  const waits = call.space.waits.get(hold.task);
  if (waits === undefined) call.space.waits.set(hold.task, new Set([...hold.exclusive, ...hold.shared]));
  else for (const resource of [...hold.exclusive, ...hold.shared]) waits.add(resource);
}

export function dropWait(call: Call, task: string, resource: string): void {
  willWrite(call);
  const waits = call.space.waits.get(task);
  waits?.delete(resource);
  if (waits?.size === 0) call.space.waits.delete(task);
}

export function deleteWaits(call: Call, task: string): void {
  willWrite(call);
  call.space.waits.delete(task);
}

export function setLock(call: Call, resource: string, mode: Mode, task: string): void {
  willWrite(call);
  const { locks } = call.space;
  if (mode === 'exclusive') locks.set(resource, task);
  else {
    const lock = locks.get(resource);
    if (lock instanceof Set) lock.add(task);
    else locks.set(resource, new Set([task]));
  }
}

export function giveUpLock(call: Call, resource: string, task: string): void {
  willWrite(call);
  const { locks } = call.space;
  const lock = locks.get(resource);
  if (lock instanceof Set) lock.delete(task);
  if (lock === task || (lock instanceof Set && lock.size === 0)) locks.delete(resource);
}

export function joinQueue(call: Call, resource: string, waiter: Waiter): void {
  willWrite(call);
  const { queues } = call.space;
  let queue = queues.get(resource);
  if (queue === undefined) queues.set(resource, (queue = new SortedList(compareOrder)));
  queue.add(waiter);
}

export function leaveQueue(call: Call, resource: string, waiter: Waiter): void {
  willWrite(call);
  const queue = call.space.queues.get(resource);
  queue?.delete(waiter);
  if (queue?.size === 0) call.space.queues.delete(resource);
}

export function addMark(call: Call, resource: string): void {
  willWrite(call);
  call.space.marks.add(resource);
}

export function dropMark(call: Call, resource: string): void {
  willWrite(call);
  call.space.marks.delete(resource);
}

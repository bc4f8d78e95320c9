import { maxResourcesPerCall } from '../chunks.js';
import type { Call } from './call.js';
import { changeHold, deleteHold, deleteWaits, giveUpLock, leaveQueue } from './hold-writes.js';
import { promote } from './promote.js';
import { makeUnready } from './ready-holds.js';
import { eachResource } from './resources-of.js';
import type { Hold } from './table-state.js';
import { pushAdmissionWakeUp } from './wake-ups.js';

/** Frees all that a hold has and hands it on; the hold itself goes last. */
export function dissolve(call: Call, hold: Hold): void {
  // While it is `entering`, it is neither claimed nor moved: it may lack locks from here on.
  changeHold(call, hold, { status: 'entering' });
  const unowned = hold.owner === null;
  if (unowned) makeUnready(call, hold.lane, hold);
  eachResource(hold, (resource, mode) => {
    if (unowned) leaveQueue(call, resource, { task: hold.task, mode, order: hold.order });
    giveUpLock(call, resource, hold.task);
    promote(call, resource);
  });
  deleteWaits(call, hold.task);
  deleteHold(call, hold.task);
  call.workedOff += hold.exclusive.length + hold.shared.length;
  if (hold.busy) pushAdmissionWakeUp(call.state);
}

/** Answers each item in turn, or only the first ones where the call has worked off what one call may. */
export function answerUntilWorkedOff<T, A>(call: Call, items: readonly T[], answer: (item: T) => A): A[] {
  const answers: A[] = [];
  for (const item of items) {
    if (call.workedOff >= maxResourcesPerCall) break;
    answers.push(answer(item));
  }
  return answers;
}

import type { Mode } from '../../resources.js';
import type { EnterAnswer, EnteringHold } from '../lock-table.js';
import type { Call } from './call.js';
import { beginPass } from './begin-pass.js';
import { dissolve } from './dissolve.js';
import { addWaits, changeHold, drawOrder, joinQueue, setHold } from './hold-writes.js';
import { enteringHold } from './new-hold.js';
import { grant, isCompatible, takeLock } from './promote.js';
import { eachResource } from './resources-of.js';
import type { Hold } from './table-state.js';

export function enter(
  call: Call,
  pass: string,
  holds: readonly EnteringHold[],
): EnterAnswer[] | 'older-pass' {
  if (beginPass(call, pass) === 'older-pass') return 'older-pass';
  return holds.map((hold) => enterOne(call, hold));
}

function enterOne(call: Call, hold: EnteringHold): EnterAnswer {
  const there = call.space.holds.get(hold.task);
  if (there === undefined) return { status: 'entered', granted: enterNew(call, hold) };
  if (there.entry > hold.entry) return { status: 'newer' };
  if (there.entry < hold.entry) {
    changeHold(call, there, { busy: true });
    return { status: 'busy' };
  }
  if (there.status !== 'entering' || there.owner !== null) return { status: 'already' };
  // G2: of an entering or a take-out that died half-way nothing is kept: those who came since must be before it
  // on all resources, or they could wait for each other.
  dissolve(call, there);
  return { status: 'entered', granted: enterNew(call, hold) };
}

function enterNew(call: Call, given: EnteringHold): boolean {
  const hold = enteringHold(call, given, drawOrder(call));
  setHold(call, hold);
  addWaits(call, hold);
  eachResource(hold, (resource, mode) => takeOrQueue(call, hold, resource, mode));
  return settle(call, hold);
}

/** G3: a free lock is taken only where nobody queues for it. */
function takeOrQueue(call: Call, hold: Hold, resource: string, mode: Mode): void {
  const { space } = call;
  if (!space.queues.has(resource) && isCompatible(space, resource, mode, hold.task)) {
    takeLock(call, resource, mode, hold.task);
  } else {
    joinQueue(call, resource, { task: hold.task, mode, order: hold.order });
  }
}

/** The last write: from here on the hold is whole. Returns whether it is granted. */
function settle(call: Call, hold: Hold): boolean {
  const granted = !call.space.waits.has(hold.task);
  if (granted) grant(call, hold);
  else changeHold(call, hold, { status: 'queued' });
  return granted;
}

import type { EnteringHold } from '../lock-table.js';
import type { Call } from './call.js';
import type { Hold } from './table-state.js';

const placeDigits = 19;

/** The hold as it is until the last write of its entering. */
export function enteringHold(call: Call, given: EnteringHold, order: number): Hold {
  return {
    task: given.task,
    entry: given.entry,
    status: 'entering',
    owner: null,
    fence: null,
    lane: given.lane,
    priority: given.priority,
    place: given.place.padStart(placeDigits, '0'),
    order,
    exclusive: given.exclusive,
    shared: given.shared,
    busy: false,
    enteredAt: call.now,
    grantedAt: null,
    ownedAt: null,
  };
}

/** The same, of an owner: with all that it holds, were its status `owned`. */
export function enteringOwnedHold(
  call: Call,
  given: EnteringHold,
  order: number,
  owner: string,
  fence: string | null,
): Hold {
  return { ...enteringHold(call, given, order), owner, fence, grantedAt: call.now, ownedAt: call.now };
}

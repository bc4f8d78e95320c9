import type { EnteringHold, EnterNowAnswer } from '../lock-table.js';
import type { Call } from './call.js';
import { changeHold, drawOrder, setHold, setLock } from './hold-writes.js';
import { enteringOwnedHold } from './new-hold.js';
import { addToRegistry, drawFence } from './owner-writes.js';
import { isCompatible } from './promote.js';
import { eachResource, findResource } from './resources-of.js';

export function enterNow(
  call: Call,
  owner: string,
  holds: readonly EnteringHold[],
): EnterNowAnswer[] | 'unlisted' {
  if (!call.space.owners.has(owner)) return 'unlisted';
  return holds.map((hold) => enterOneNow(call, owner, hold));
}

function enterOneNow(call: Call, owner: string, given: EnteringHold): EnterNowAnswer {
  const { space } = call;
  if (space.holds.has(given.task)) return { status: 'present' };
  // G3: never past a queue, even where the lock would admit it.
  const blocked = findResource(
    given,
    (resource, mode) => space.queues.has(resource) || !isCompatible(space, resource, mode, given.task),
  );
  if (blocked !== undefined) return { status: 'blocked', resource: blocked };
  const order = drawOrder(call);
  const fence = drawFence(call);
  // G4: the registry before the hold, so that whatever an owner holds is found by its owner.
  addToRegistry(call, owner, given.task);
  const hold = enteringOwnedHold(call, given, order, owner, fence);
  setHold(call, hold);
  eachResource(hold, (resource, mode) => setLock(call, resource, mode, hold.task));
  changeHold(call, hold, { status: 'owned' });
  return { status: 'owned', fence };
}

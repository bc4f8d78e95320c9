import { ownerText } from '../../owner.js';
import type { OwnedHold, ReleaseAnswer } from '../lock-table.js';
import type { Call } from './call.js';
import { answerUntilWorkedOff, dissolve } from './dissolve.js';
import { dropFromRegistry } from './owner-writes.js';

export function release(call: Call, holds: readonly OwnedHold[]): ReleaseAnswer[] {
  return answerUntilWorkedOff(call, holds, (item) => releaseOne(call, item));
}

function releaseOne(call: Call, item: OwnedHold): ReleaseAnswer {
  const owner = ownerText(item.owner);
  const hold = call.space.holds.get(item.task);
  if (hold !== undefined && (hold.owner !== owner || hold.entry !== item.entry)) {
    if (hold.owner !== owner) dropFromRegistry(call, owner, item.task);
    return 'stale';
  }
  if (hold !== undefined) dissolve(call, hold);
  // G4: the registry last, so that a release that dies is found and repeated.
  dropFromRegistry(call, owner, item.task);
  return hold === undefined ? 'gone' : 'released';
}

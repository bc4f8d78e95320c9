import { ownerText } from '../../owner.js';
import type { Move, MoveAnswer } from '../lock-table.js';
import type { Call } from './call.js';
import { answerUntilWorkedOff, dissolve } from './dissolve.js';
import { changeHold } from './hold-writes.js';
import { dropFromRegistry } from './owner-writes.js';
import { makeReady } from './ready-holds.js';
import type { Hold } from './table-state.js';
import { pushAdmissionWakeUp } from './wake-ups.js';

export function move(call: Call, moves: readonly Move[]): MoveAnswer[] {
  return answerUntilWorkedOff(call, moves, (item) => moveOne(call, item));
}

function moveOne(call: Call, item: Move): MoveAnswer {
  const owner = ownerText(item.owner);
  const hold = call.space.holds.get(item.task);
  if (hold === undefined) return dropped(call, owner, item.task, 'gone');
  if (hold.owner === owner && hold.entry === item.entry) {
    if (hold.status !== 'owned') {
      // G1: it lost locks in a release that died, or never had them all: nobody may run under it.
      dissolve(call, hold);
      return dropped(call, owner, item.task, 'gone');
    }
    handOut(call, hold, item.nextEntry);
    return dropped(call, owner, item.task, 'moved');
  }
  if (hold.entry === item.nextEntry && hold.status === 'granted') {
    makeReady(call, hold.lane, hold);
    return dropped(call, owner, item.task, 'moved');
  }
  if (hold.owner !== owner) dropFromRegistry(call, owner, item.task);
  return 'stale';
}

function handOut(call: Call, hold: Hold, entry: number): void {
  makeReady(call, hold.lane, hold);
  const wasBusy = hold.busy;
  changeHold(call, hold, { entry, status: 'granted', owner: null, fence: null, ownedAt: null, busy: false });
  if (wasBusy) pushAdmissionWakeUp(call.state);
}

function dropped<A>(call: Call, owner: string, task: string, answer: A): A {
  dropFromRegistry(call, owner, task);
  return answer;
}

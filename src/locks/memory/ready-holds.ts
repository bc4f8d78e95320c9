import type { Call } from './call.js';
import { willWrite } from './hold-writes.js';
import { SortedList } from './sorted-list.js';
import { compareReady, type ReadyHold } from './table-state.js';
import { pushLaneWakeUp } from './wake-ups.js';

/** Lets any worker of the lane take the hold, and wakes one of them. */
export function makeReady(call: Call, lane: string, hold: ReadyHold): void {
  const { space } = call;
  willWrite(call);
  let ready = space.ready.get(lane);
  if (ready === undefined) space.ready.set(lane, (ready = new SortedList(compareReady)));
  ready.add({ task: hold.task, priority: hold.priority, place: hold.place });
  if (!space.lanes.has(lane)) {
    raiseLanesVersion(call);
    willWrite(call);
    space.lanes.add(lane);
  }
  pushLaneWakeUp(call, lane);
}

/** The lane goes with its last hold: workers poll only lanes that have one. */
export function makeUnready(call: Call, lane: string, hold: ReadyHold): void {
  const { space } = call;
  willWrite(call);
  const ready = space.ready.get(lane);
  ready?.delete(hold);
  if (ready?.size === 0) space.ready.delete(lane);
  if (!space.ready.has(lane)) unlistLane(call, lane);
}

/** For a lane without ready holds. */
export function unlistLane(call: Call, lane: string): void {
  const { space } = call;
  willWrite(call);
  space.laneWakeUps.delete(lane);
  if (!space.lanes.has(lane)) return;
  raiseLanesVersion(call);
  willWrite(call);
  space.lanes.delete(lane);
}

/** Before the lane comes or goes: a death in between costs a raise, never a lane that nobody is told of. */
function raiseLanesVersion(call: Call): void {
  willWrite(call);
  call.space.lanesVersion += 1;
}

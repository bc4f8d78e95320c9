import type { Call } from './call.js';
import { willWrite } from './hold-writes.js';
import type { TableState } from './table-state.js';

const maxAdmissionWakeUps = 16;
const maxLaneWakeUps = 64;

/** Each wake-up wakes one process; those beyond the limit would wake nobody who is not woken already. */
export function pushAdmissionWakeUp(state: TableState): void {
  if (state.admissionWakeUps >= maxAdmissionWakeUps) return;
  state.beforeWrite?.();
  state.admissionWakeUps += 1;
  state.pushes += 1;
}

export function pushLaneWakeUp(call: Call, lane: string): void {
  const { laneWakeUps } = call.space;
  const waiting = laneWakeUps.get(lane) ?? 0;
  if (waiting >= maxLaneWakeUps) return;
  willWrite(call);
  laneWakeUps.set(lane, waiting + 1);
  call.state.pushes += 1;
}

/** Takes one wake-up: for admission first, then for the lanes in the order given. */
export function takeWakeUp(
  state: TableState,
  epoch: string,
  lanes: readonly string[],
): 'admission' | 'claim' | null {
  if (state.admissionWakeUps > 0) {
    state.admissionWakeUps -= 1;
    return 'admission';
  }
  const laneWakeUps = state.keyspaces.get(epoch)?.laneWakeUps;
  if (laneWakeUps === undefined) return null;
  for (const lane of lanes) {
    const waiting = laneWakeUps.get(lane) ?? 0;
    if (waiting === 0) continue;
    if (waiting === 1) laneWakeUps.delete(lane);
    else laneWakeUps.set(lane, waiting - 1);
    return 'claim';
  }
  return null;
}

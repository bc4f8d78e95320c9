import type { History, Violation } from './history.js';
import { fencesGrow } from './checks/fences.js';
import { neverTwo } from './checks/never-two.js';
import { nothingLost } from './checks/nothing-lost.js';
import { onceAtMost } from './checks/once.js';
import { inOrder } from './checks/order.js';
import { recoveredInTime } from './checks/recovered-in-time.js';
import { stoppedInTime } from './checks/stopped-in-time.js';

const properties = [
  neverTwo,
  stoppedInTime,
  inOrder,
  onceAtMost,
  fencesGrow,
  nothingLost,
  recoveredInTime,
  nothingLeft,
];

/** Judges by what user code wrote down and by what is in both stores: it uses nothing of the product. */
export function check(history: History): Violation[] {
  return properties.flatMap((property) => property(history));
}

/** G4, at the end. */
function nothingLeft({ leftovers }: History): Violation[] {
  return leftovers.map((text) => ({ property: 'nothing left', text, at: null, tasks: [] }));
}

import { InvalidTask } from '../errors.js';
import { checkName, normalizeResources } from '../resources.js';
import type { EnteringHold } from './lock-table.js';

const lowestPriority = -32_768;
const highestPriority = 32_767;

/**
 * The hold with its resources in normal form, so that no adapter sees a resource twice in one hold. Throws
 * InvalidTask where a field cannot be stored without loss.
 */
export function checkHold<T extends EnteringHold>(hold: T): T {
  checkName(hold.task, 'The task id of a hold');
  if (!Number.isSafeInteger(hold.entry) || hold.entry < 1) throw malformed(hold, 'entry', hold.entry);
  if (hold.lane === '') throw malformed(hold, 'lane', hold.lane);
  const { priority } = hold;
  if (!Number.isInteger(priority) || priority < lowestPriority || priority > highestPriority) {
    throw malformed(hold, 'priority', priority);
  }
  if (!/^\d{1,19}$/.test(hold.place)) throw malformed(hold, 'place', hold.place);
  return { ...hold, ...normalizeResources(hold) };
}

/** A move goes forward: an entry that was left behind is never used again. */
export function checkMove(move: { task: string; entry: number; nextEntry: number }): void {
  if (!(move.nextEntry > move.entry)) throw malformed(move, 'nextEntry', move.nextEntry);
}

function malformed(hold: { task: string }, field: string, got: unknown): InvalidTask {
  return new InvalidTask(`The hold of task ${hold.task} has a malformed ${field}: ${JSON.stringify(got)}.`);
}

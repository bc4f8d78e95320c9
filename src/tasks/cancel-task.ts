import type { LockTable } from '../locks/lock-table.js';
import type { Store } from '../store/store.js';
import type { Task } from './task.js';
import { WrongState } from '../errors.js';
import { taskOf } from './task.js';
import { rowOf } from './wait/wait-for-task.js';

/** What the processes that it concerns are told once the store has decided. Hints: each of them finds it by polling. */
export type CancelHint = (
  table: Pick<LockTable, 'announceCanceling' | 'announceSettled' | 'wakeAdmission'>,
) => Promise<void>;

export interface CancelPorts {
  store: Pick<Store, 'cancelTask' | 'getTask'>;
  /** Goes on in the background; never throws. */
  hint(hint: CancelHint): void;
}

/**
 * Cancels a task that waits, or has one stopped that runs. The task as it is then: `canceled`, or `canceling` until
 * its worker has stopped it. Again for one that is canceled or being canceled is no error. Throws NotFound; WrongState
 * where it had completed or failed.
 */
export async function cancelTask({ store, hint }: CancelPorts, id: string): Promise<Task> {
  const { id: known } = await rowOf(store, id);
  const outcome = await store.cancelTask(known);
  const row = await rowOf(store, known);
  if (outcome?.after === 'waiting' || outcome?.after === 'running') {
    throw new WrongState(`${known} is an ad-hoc lock: only who asked for it can let it go.`);
  }
  if (outcome?.before === 'completed' || outcome?.before === 'failed') {
    throw new WrongState(`Task ${known} cannot be canceled any more: it has ${outcome.before}.`);
  }
  if (outcome?.before === 'waiting') {
    hint((table) => Promise.all([table.wakeAdmission(), table.announceSettled([known])]).then(() => {}));
  }
  // One that has ended since needs no telling; it may even run again, under another entry.
  if (outcome?.after === 'canceling' && row.state === 'canceling') {
    hint((table) => table.announceCanceling([{ task: known, entry: row.entry }]));
  }
  return taskOf(row);
}

import type { Store } from '../store/store.js';
import { InvalidTask } from '../errors.js';
import { lockQueue } from '../lane.js';
import { checkName } from '../resources.js';

/** What a queue is after it was paused or resumed. */
export interface QueueState {
  queue: string;
  paused: boolean;
}

export interface PausePorts {
  store: Pick<Store, 'pauseQueue' | 'resumeQueue'>;
  /** Goes on in the background; never throws. */
  wakeAdmission(): void;
}

/** Throws InvalidTask for the queue of ad-hoc locks. Again for a queue that is paused is no error. */
export async function pauseQueue({ store, wakeAdmission }: PausePorts, queue: string): Promise<QueueState> {
  checkName(queue, 'The queue');
  if (queue === lockQueue) throw new InvalidTask('Locks are never paused.');
  // Admission has to take out the holds, and what was begun where this is cut short.
  await store.pauseQueue(queue).finally(wakeAdmission);
  return { queue, paused: true };
}

/** For a queue that is not paused it is no error. */
export async function resumeQueue({ store, wakeAdmission }: PausePorts, queue: string): Promise<QueueState> {
  checkName(queue, 'The queue');
  await store.resumeQueue(queue).finally(wakeAdmission);
  return { queue, paused: false };
}

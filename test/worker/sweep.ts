import type { Owner } from '../../src/owner.js';
import type { Place } from './place.js';
import { cleanupLocksForWorker } from '../../src/recovery/cleanup-locks-for-worker.js';

/** What recovery does for an owner that is known to be dead. */
export async function sweep(place: Place, owner: Owner): Promise<void> {
  await place.store.reapWorker(owner.incarnation);
  if (!(await cleanupLocksForWorker(place, owner))) throw new Error('Something is left of the owner.');
}

import type { Owner } from '../owner.js';
import type { Recovery } from './recovery.js';
import { faultPoint } from '../fault-points.js';
import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import { settleLostHolds } from './settle-lost-holds.js';
import { settleLostTasks } from './settle-lost-tasks.js';

/**
 * Settles what a worker that is reaped, or has no row, ran and held, and deletes its row once nothing is left. Every
 * step is safe when others do it at the same time, and when it is repeated after one of them died. Resolves with whether
 * all is done; where not, it is to be called again. Never rejects.
 */
export async function cleanupLocksForWorker(recovery: Recovery, worker: Owner): Promise<boolean> {
  const { store, table, log } = recovery;
  try {
    const { settled, final } = await settleLostTasks(recovery, worker);
    const locks = await store.settleLostLocks(worker.incarnation);
    if (locks === 'refused') return false;
    faultPoint('dead-locks-deleted');
    // By the rows and not by the registry: a script that died half-way may have held what it had not listed.
    await settleLostHolds(recovery, worker, [...settled, ...locks.map((task) => ({ task, entry: 1 }))]);
    faultPoint('dead-holds-settled');
    const clean = await cleanupLocksForOwner(recovery, worker);
    faultPoint('dead-owner-unlisted');
    await Promise.all([table.announceSettled(final), table.wakeAdmission()]);
    if (!clean) return false;
    // Refused while it runs anything.
    return (await store.removeWorker(worker.incarnation)) === 'removed';
  } catch (error) {
    log.warn(
      { err: error, worker: worker.name, incarnation: worker.incarnation },
      'a dead worker is cleaned up later',
    );
    return false;
  }
}

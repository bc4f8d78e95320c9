import type { Logger } from '../log.js';
import type { Store } from '../store/store.js';
import type { WorkerRow } from '../store/worker-row.js';

export interface Settling {
  store: Store;
  log: Logger;
}

const workersPerPage = 100;

/**
 * Settles what every worker of the store ran, by each task's policy, and removes the workers. Only where
 * something outside the store proves that all of them are dead: for embedded data, the lock of its folder.
 */
export async function settleAllWorkers(settling: Settling): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const page: WorkerRow[] = await settling.store.listWorkers({ after, limit: workersPerPage });
    for (const worker of page) await settleOne(settling, worker);
    after = page.at(-1)?.incarnation ?? null;
    if (after === null || page.length < workersPerPage) return;
  }
}

/** G5: a worker that cannot be settled never stops the settling of others. Its row stays for the next time. */
async function settleOne(settling: Settling, worker: WorkerRow): Promise<void> {
  try {
    await settleLostTasks(settling, worker.incarnation);
  } catch (error) {
    const fields = { err: error, worker: worker.name, incarnation: worker.incarnation };
    settling.log.error(fields, 'a dead worker could not be settled');
  }
}

/**
 * Reaps a worker known to be dead, settles each task that it ran, and removes its row when none is left. A task
 * that cannot be settled is logged and left, and so is the row. Safe when two processes do it at once.
 */
export async function settleLostTasks(
  { store, log }: Settling,
  incarnation: string,
): Promise<'removed' | 'left'> {
  // From here on no claim, finish or beat of that incarnation can succeed.
  if ((await store.reapWorker(incarnation)) === 'gone') return 'removed';
  let left = 0;
  for (const lost of await store.runningOf(incarnation)) {
    const fields = { task: lost.task, entry: lost.entry, incarnation };
    try {
      log.info({ ...fields, ...(await store.settleLostTask(incarnation, lost)) }, 'settled a lost task');
    } catch (error) {
      left += 1;
      log.error({ ...fields, err: error }, 'a lost task could not be settled');
    }
  }
  // Its ad-hoc locks go with it; admission takes the holds of those that waited out.
  await store.settleLostLocks(incarnation);
  if (left > 0) return 'left';
  return (await store.removeWorker(incarnation)) === 'removed' ? 'removed' : 'left';
}

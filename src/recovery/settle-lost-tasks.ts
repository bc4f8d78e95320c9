import type { Logger } from '../log.js';
import type { Store, TaskEntry } from '../store/store.js';
import type { WorkerRow } from '../store/worker-row.js';
import { faultPoint } from '../fault-points.js';

export interface Settling {
  store: Store;
  log: Logger;
}

/** What a dead worker ran. */
export interface SettledTasks {
  /** Those that are settled now, by whomever, with the entries that they ran with. */
  settled: TaskEntry[];
  /** Of them, those in a final state. */
  final: string[];
  /** How many could not be settled. */
  left: number;
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
    for (const worker of page) await settleWorker(settling, worker);
    after = page.at(-1)?.incarnation ?? null;
    if (after === null || page.length < workersPerPage) return;
  }
}

/** G5: a worker that cannot be settled never stops the settling of others. Its row stays for the next time. */
async function settleWorker(settling: Settling, worker: WorkerRow): Promise<void> {
  const { store, log } = settling;
  const { name, incarnation } = worker;
  try {
    await store.reapWorker(incarnation);
    const { left } = await settleLostTasks(settling, worker);
    // Its ad-hoc locks go with it; admission takes the holds of those that waited out.
    await store.settleLostLocks(incarnation);
    if (left === 0) await store.removeWorker(incarnation);
  } catch (error) {
    log.error({ err: error, worker: name, incarnation }, 'a dead worker could not be settled');
  }
}

/**
 * Settles each task that a reaped worker ran, or one without a row. A task that cannot be settled is logged and left.
 * Safe when two processes do it at once.
 */
export async function settleLostTasks(
  { store, log }: Settling,
  { name, incarnation }: { name: string; incarnation: string },
): Promise<SettledTasks> {
  const done: SettledTasks = { settled: [], final: [], left: 0 };
  for (const { task, entry } of await store.runningOf(incarnation)) {
    const fields = { task, entry, worker: name, incarnation };
    try {
      const answer = await store.settleLostTask(incarnation, { task, entry });
      faultPoint('dead-task-settled');
      log.info({ ...fields, ...answer }, 'settled a task of a dead worker');
      done.settled.push({ task, entry });
      if (answer.outcome === 'settled') done.final.push(task);
    } catch (error) {
      done.left += 1;
      log.error({ ...fields, err: error }, 'a task of a dead worker could not be settled');
    }
  }
  return done;
}

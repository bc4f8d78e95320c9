import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.js';
import type { LostTaskOutcome } from '../store/lost-workers.js';
import type { Store, TaskEntry } from '../store/store.js';
import type { WorkerRow } from '../store/worker-row.js';
import { faultPoint } from '../fault-points.js';
import { eachOnItsOwn } from './each-on-its-own.js';

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
}

type Lost = { name: string; incarnation: string };

/** `failed`: it could not be settled, and everybody has been told why. */
type Answer = LostTaskOutcome | { outcome: 'failed' };

const workersPerPage = 100;

/** A call of so many takes PostgreSQL some 10 ms. */
const tasksPerCall = 100;

/** How long all of those together are waited for that somebody else has locked, in milliseconds. */
const lockedPatienceMs = 1_000;
const lockedPollMs = 50;

/**
 * Settles what every worker of the store ran, by each task's policy, and removes the workers. Only where
 * something outside the store proves that all of them are dead: for embedded data, the lock of its folder. That tells
 * nothing of their children, which are ended first.
 */
export async function settleAllWorkers(
  settling: Settling,
  endChildrenOf: (worker: WorkerRow) => Promise<void>,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const page: WorkerRow[] = await settling.store.listWorkers({ after, limit: workersPerPage });
    for (const worker of page) await settleWorker(settling, worker, endChildrenOf);
    after = page.at(-1)?.incarnation ?? null;
    if (after === null || page.length < workersPerPage) return;
  }
}

/** G5: a worker that cannot be settled never stops the settling of others. Its row stays for the next time. */
async function settleWorker(
  settling: Settling,
  worker: WorkerRow,
  endChildrenOf: (worker: WorkerRow) => Promise<void>,
): Promise<void> {
  const { store, log } = settling;
  const { name, incarnation } = worker;
  try {
    // G1: before anybody else may have what their tasks held.
    await endChildrenOf(worker);
    await store.reapWorker(incarnation);
    await settleLostTasks(settling, worker);
    // Its ad-hoc locks go with it; admission takes the holds of those that waited out.
    await store.settleLostLocks(incarnation);
    // Refused while it runs anything.
    await store.removeWorker(incarnation);
  } catch (error) {
    log.error({ err: error, worker: name, incarnation }, 'a dead worker could not be settled');
  }
}

/**
 * Settles each task that a reaped worker ran, or one without a row. A task that cannot be settled is logged and left.
 * Safe when two processes do it at once.
 */
export async function settleLostTasks(settling: Settling, worker: Lost): Promise<SettledTasks> {
  const done: SettledTasks = { settled: [], final: [] };
  const started = performance.now();
  let tasks: TaskEntry[] = await settling.store.runningOf(worker.incarnation);
  for (;;) {
    tasks = await settleInBatches(settling, worker, tasks, done);
    if (tasks.length === 0) return done;
    if (performance.now() - started >= lockedPatienceMs) break;
    await delay(lockedPollMs);
  }
  for (const task of tasks) {
    settling.log.error(
      { ...task, ...fieldsOf(worker) },
      'a task of a dead worker is locked by somebody else',
    );
  }
  return done;
}

/** Resolves with those that somebody else has locked. */
async function settleInBatches(
  { store, log }: Settling,
  worker: Lost,
  tasks: readonly TaskEntry[],
  done: SettledTasks,
): Promise<TaskEntry[]> {
  const locked: TaskEntry[] = [];
  for (let first = 0; first < tasks.length; first += tasksPerCall) {
    const batch = tasks.slice(first, first + tasksPerCall);
    const settle = (some: TaskEntry[]): Promise<Answer[]> => store.settleLostTasks(worker.incarnation, some);
    const answers = await eachOnItsOwn(batch, settle, (task, error) => {
      const fields = { ...task, ...fieldsOf(worker), err: error };
      log.error(fields, 'a task of a dead worker could not be settled');
      return { outcome: 'failed' };
    });
    faultPoint('dead-tasks-settled');
    for (const [index, { task, entry }] of batch.entries()) {
      const answer = answers[index] ?? { outcome: 'refused' };
      if (answer.outcome === 'locked') locked.push({ task, entry });
      else if (answer.outcome !== 'failed') {
        log.info({ task, entry, ...fieldsOf(worker), ...answer }, 'settled a task of a dead worker');
        done.settled.push({ task, entry });
        if (answer.outcome === 'settled') done.final.push(task);
      }
    }
  }
  return locked;
}

function fieldsOf({ name, incarnation }: Lost): { worker: string; incarnation: string } {
  return { worker: name, incarnation };
}

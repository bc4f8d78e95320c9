import type { Owner } from '../../src/owner.js';
import type { TaskRow } from '../../src/store/store.js';
import type { TaskState } from '../../src/store/task-state.js';
import type { WorkerOptions } from '../../src/worker/worker-options.js';
import type { Place } from './place.js';
import { createWorkerProcess, type WorkerProcess } from '../../src/worker/worker.js';
import { waitUntil } from '../helpers/wait-until.js';

export interface TestWorker {
  owner: Owner;
  process: WorkerProcess;
  /** What `run` ended with: null in order. */
  ended: Promise<Error | null>;
  stop(): Promise<void>;
}

/** Starts a worker in this process and waits until it claims. It is stopped when the place is closed. */
export async function startWorker(place: Place, given: Partial<WorkerOptions> = {}): Promise<TestWorker> {
  const { store, table, epoch, definitions, log } = place;
  let owner: Owner | null = null;
  const process = createWorkerProcess({
    ...{ store, table, epoch, definitions, log, name: 'w', ttlMs: 3_000 },
    beater: place.beater,
    ...given,
    onReady: (ready) => {
      owner = ready;
      given.onReady?.(ready);
    },
  });
  const ended = process.run().then(
    () => null,
    (error: Error) => error,
  );
  place.onClose(() => process.stop());
  const failed = ended.then((error) => {
    throw error ?? new Error('The worker ended before it was ready.');
  });
  await Promise.race([waitUntil(() => owner, 'the worker claims'), failed]);
  return { owner: owner as unknown as Owner, process, ended, stop: () => process.stop() };
}

/** The row, once the task is in the state. */
export async function inState(
  place: Place,
  id: string,
  state: TaskState,
  limitMs?: number,
): Promise<TaskRow> {
  const seen = async (): Promise<TaskRow | null> => {
    const row = await place.store.getTask(id);
    if (row?.state === state) return row;
    throw new Error(`It is ${JSON.stringify(row)}.`);
  };
  return waitUntil(seen, `task ${id} is ${state}`, limitMs);
}

/** Resolves when the table holds nothing of these tasks any more. */
export async function holdsGone(place: Place, ...tasks: string[]): Promise<void> {
  for (const task of tasks) {
    const gone = async (): Promise<boolean> =>
      (await place.table.inspectHold(await place.epoch.get(), task)) === null;
    await waitUntil(gone, `the hold of ${task} is gone`);
  }
}

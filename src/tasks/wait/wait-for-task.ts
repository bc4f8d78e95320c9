import { validate } from 'uuid';
import type { Duration } from '../../durations.js';
import type { Store, TaskRow } from '../../store/store.js';
import type { Task } from '../task.js';
import type { SettlementWatch } from './settlement-watch.js';
import { NotFound, Unavailable, WaitTimeout } from '../../errors.js';
import { finalStates } from '../../store/task-state.js';
import { timerMs } from '../check-task-options.js';
import { refuseUnknownOptions } from '../known-options.js';
import { taskOf } from '../task.js';

export interface WaitOptions {
  /** How long to wait; 0 looks once. Default: no limit; at most 24 days. */
  timeout?: Duration;
}

export interface WaitPorts {
  store: Pick<Store, 'getTask'>;
  watch: SettlementWatch;
}

/**
 * The task in its final state, whichever that is. Throws NotFound, WaitTimeout with the state it was last seen
 * in, or Unavailable where PostgreSQL cannot be asked at first; an outage later on does not end the wait.
 */
export async function waitForTask(ports: WaitPorts, id: string, options: WaitOptions = {}): Promise<Task> {
  refuseUnknownOptions(options, ['timeout'], 'wait');
  const limitMs = options.timeout === undefined ? null : timerMs(options.timeout, 'timeout', 0);
  const end = limitMs === null ? Infinity : performance.now() + limitMs;
  let row = await rowOf(ports.store, id);
  while (!finalStates.includes(row.state)) {
    await mayHaveSettled(ports.watch, row, end);
    row = await rowOf(ports.store, id);
  }
  return taskOf(row);
}

/** One row by its id, or NotFound: also for a text that is no id. */
export async function rowOf(store: Pick<Store, 'getTask'>, id: string): Promise<TaskRow> {
  const row = validate(id) ? await store.getTask(id) : null;
  if (row === null) throw new NotFound(`There is no task ${JSON.stringify(id)}.`);
  return row;
}

/** A task that settled between the read and the watch is found by the first poll. */
function mayHaveSettled(watch: SettlementWatch, row: TaskRow, end: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const unwatch = watch.watch(row.id, (noticed) => {
      clearTimeout(timer);
      if (noticed === 'may-have-settled') resolve();
      else reject(new Unavailable(`This Holdfast was closed while task ${row.id} was waited for.`));
    });
    if (end === Infinity) return;
    timer = setTimeout(
      () => {
        unwatch();
        reject(new WaitTimeout(timeoutMessage(row)));
      },
      Math.max(0, end - performance.now()),
    );
  });
}

function timeoutMessage(row: TaskRow): string {
  return `Task ${row.id} (${JSON.stringify(row.name)}) had not settled in time; it was ${row.state} when last read.`;
}

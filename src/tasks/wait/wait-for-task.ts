import type { Duration } from '../../durations.js';
import type { Store, TaskRow } from '../../store/store.js';
import type { Task } from '../task.js';
import type { SettlementWatch } from './settlement-watch.js';
import { NotFound, Unavailable, WaitTimeout } from '../../errors.js';
import { finalStates } from '../../store/task-state.js';
import { timerMs } from '../check-task-options.js';
import { refuseUnknownOptions } from '../known-options.js';
import { taskOf } from '../task.js';
import { shown } from '../../shown.js';

export interface WaitOptions {
  /** How long to wait; 0 looks once. Default: no limit; at most 24 days. */
  timeout?: Duration;
}

export interface WaitPorts {
  store: Pick<Store, 'getTask'>;
  watch: SettlementWatch;
  /** Ends the wait when it aborts. */
  over?: AbortSignal;
}

/**
 * The task in its final state, whichever that is. Throws NotFound, WaitTimeout with the state it was seen
 * in, or Unavailable where PostgreSQL cannot be asked at first; an outage later on does not end the wait.
 */
export async function waitForTask(ports: WaitPorts, id: string, options: WaitOptions = {}): Promise<Task> {
  refuseUnknownOptions(options, ['timeout'], 'wait');
  const limitMs = options.timeout === undefined ? null : timerMs(options.timeout, 'timeout', 0);
  const row = await rowOf(ports.store, id);
  if (finalStates.includes(row.state)) return taskOf(row);
  const end = new AbortController();
  ports.over?.addEventListener('abort', () => end.abort(ports.over?.reason));
  const settled = untilSettled(ports, row, end.signal);
  if (limitMs === null) return taskOf(await settled);
  const timer = setTimeout(() => end.abort(new WaitTimeout(timeoutMessage(row))), limitMs);
  try {
    return taskOf(await Promise.race([settled, rejectionOf(end.signal)]));
  } finally {
    clearTimeout(timer);
  }
}

/** One row by its id, or NotFound: also for a text that is no id. */
export async function rowOf(store: Pick<Store, 'getTask'>, id: string): Promise<TaskRow> {
  const row = typeof id === 'string' ? await store.getTask(id) : null;
  if (row === null) throw new NotFound(`There is no task ${shown(id)}.`);
  return row;
}

/** Rejects with the signal's reason soon after it aborts. */
async function untilSettled(ports: WaitPorts, first: TaskRow, end: AbortSignal): Promise<TaskRow> {
  let row = first;
  while (!finalStates.includes(row.state)) {
    await mayHaveSettled(ports.watch, row, end);
    row = (await rereadOf(ports.store, row.id)) ?? row;
  }
  return row;
}

/** null in an outage: the next poll finds what settled meanwhile. */
async function rereadOf(store: Pick<Store, 'getTask'>, id: string): Promise<TaskRow | null> {
  try {
    return await rowOf(store, id);
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}

/** A task that settled between the read and the watch is found by the first poll. */
function mayHaveSettled(watch: SettlementWatch, row: TaskRow, end: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    end.throwIfAborted();
    const leave = (): void => {
      unwatch();
      reject(end.reason as Error);
    };
    const unwatch = watch.watch(row.id, (noticed) => {
      end.removeEventListener('abort', leave);
      if (noticed === 'may-have-settled') resolve();
      else reject(new Unavailable(`This Holdfast was closed while task ${row.id} was waited for.`));
    });
    end.addEventListener('abort', leave);
  });
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function timeoutMessage(row: TaskRow): string {
  return `Task ${row.id} (${JSON.stringify(row.name)}) had not settled in time; it was ${row.state} when the wait began.`;
}

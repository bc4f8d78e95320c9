import type { ErrorCode } from '../errors.js';
import type { Store, TaskRow } from '../store/store.js';
import type { RetryPage } from '../store/retry.js';
import type { Task } from './task.js';
import { HoldfastError, InvalidTask, WrongState } from '../errors.js';
import { checkName } from '../resources.js';
import { shown } from '../shown.js';
import { refuseUnknownOptions } from './known-options.js';
import { taskOf } from './task.js';
import { rowOf } from './wait/wait-for-task.js';

/** Which tasks to retry, oldest first. */
export interface RetryFilter {
  state: RetriableState | RetriableState[];
  /** Exactly this name. Default: all. */
  name?: string;
  /** How many at most. Default: all. */
  limit?: number;
}

export type RetriableState = 'failed' | 'canceled';

/** What became of several tasks: one that was refused kept no other back. */
export interface RetriedTasks {
  tasks: Task[];
  refused: { id: string; code: ErrorCode; message: string }[];
}

export interface RetriedCount {
  retried: number;
  /** Those that changed meanwhile, or whose unique key another task has. */
  refused: number;
}

export interface RetryTasks {
  /**
   * Has a task run again that failed or was canceled: it is `waiting`, at a new place, with its attempts and crashes
   * counted anew. Throws NotFound; WrongState in any other state.
   */
  (id: string): Promise<Task>;
  /** Each by itself, in this order; those that cannot be retried are told. */
  (ids: readonly string[]): Promise<RetriedTasks>;
  /** All tasks in these states when it was called, page by page; tells how many. */
  (filter: RetryFilter): Promise<RetriedCount>;
}

export interface RetryPorts {
  store: Pick<Store, 'retryTask' | 'retryPage' | 'getTask'>;
  /** Goes on in the background; never throws. */
  wakeAdmission(): void;
}

const retriableStates: readonly RetriableState[] = ['failed', 'canceled'];
const refusals: readonly ErrorCode[] = ['NotFound', 'WrongState'];
const tasksPerPage = 500;

/** What tasks.retry does, by what it is given. */
export function retryingTasks(connect: () => Promise<RetryPorts>): RetryTasks {
  async function retry(id: string): Promise<Task>;
  async function retry(ids: readonly string[]): Promise<RetriedTasks>;
  async function retry(filter: RetryFilter): Promise<RetriedCount>;
  async function retry(
    which: string | readonly string[] | RetryFilter,
  ): Promise<Task | RetriedTasks | RetriedCount> {
    if (typeof which === 'string') return retryTask(await connect(), which);
    if (isList(which)) return retryEach(await connect(), which);
    const filter = checkFilter(which);
    return retryFiltered(await connect(), filter);
  }
  return retry;
}

function isList(which: unknown): which is readonly string[] {
  return Array.isArray(which);
}

async function retryTask({ store, wakeAdmission }: RetryPorts, id: string): Promise<Task> {
  const { id: known } = await rowOf(store, id);
  const outcome = await store.retryTask(known);
  const row = await rowOf(store, known);
  if (outcome?.before === outcome?.after) throw refusalOf(row);
  wakeAdmission();
  return taskOf(row);
}

async function retryEach(ports: RetryPorts, ids: readonly string[]): Promise<RetriedTasks> {
  const retried: RetriedTasks = { tasks: [], refused: [] };
  for (const id of ids) {
    try {
      retried.tasks.push(await retryTask(ports, id));
    } catch (error) {
      if (!(error instanceof HoldfastError) || !refusals.includes(error.code)) throw error;
      retried.refused.push({ id, code: error.code, message: error.message });
    }
  }
  return retried;
}

/** Bounded in memory, and in each of its calls, however many there are. */
async function retryFiltered(
  ports: RetryPorts,
  { states, name, limit }: CheckedFilter,
): Promise<RetriedCount> {
  const total = { retried: 0, refused: 0 };
  let until: string | null = null;
  for (const state of states) {
    // What has left one state for the other since the first page was read is left alone as well.
    let from: RetryPage['from'] = until === null ? null : { after: null, until };
    do {
      const left = limit - total.retried;
      if (left <= 0) return total;
      const page = await ports.store.retryPage({ state, name, from, limit: Math.min(left, tasksPerPage) });
      total.retried += page.retried;
      total.refused += page.refused;
      from = page.next;
      until = page.until;
      if (page.retried > 0) ports.wakeAdmission();
    } while (from !== null);
  }
  return total;
}

interface CheckedFilter {
  states: RetriableState[];
  name: string | null;
  limit: number;
}

function checkFilter(filter: RetryFilter): CheckedFilter {
  refuseUnknownOptions(filter, ['state', 'name', 'limit'], 'tasks.retry');
  const { state, name = null, limit = Number.MAX_SAFE_INTEGER } = filter;
  const states = [...new Set([state].flat())];
  for (const one of states) {
    if (retriableStates.includes(one)) continue;
    throw new InvalidTask(`tasks.retry takes the state failed or canceled; got ${shown(one)}.`);
  }
  if (states.length === 0) throw new InvalidTask('tasks.retry needs a state: failed, canceled or both.');
  if (name !== null) checkName(name, 'The name of a task');
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new InvalidTask(`limit must be a positive integer; got ${shown(limit)}.`);
  }
  return { states, name, limit };
}

function refusalOf({ id, state, uniqueKey }: TaskRow): WrongState {
  if (uniqueKey !== null && retriableStates.some((one) => one === state)) {
    return new WrongState(
      `Task ${id} cannot be retried: another one has its unique key ${shown(uniqueKey)}.`,
    );
  }
  return new WrongState(`Task ${id} cannot be retried: it is ${state}, and neither failed nor canceled.`);
}

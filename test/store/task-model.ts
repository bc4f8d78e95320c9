import type { Policies, TaskRow } from '../../src/store/store.js';

/** What the store must make of one task: the state machine, without a database. */
export interface ModelTask {
  state: 'waiting' | 'running' | 'completed' | 'failed';
  entry: number;
  attempt: number;
  crashes: number;
  worker: string | null;
  admitted: boolean;
  readmitted: boolean;
  policies: Policies | null;
}

export interface Model {
  tasks: ModelTask[];
  reaped: Set<string>;
}

export function modelTask(policies: Policies | null): ModelTask {
  return {
    ...{ state: 'waiting', entry: 1, attempt: 0, crashes: 0, worker: null },
    ...{ admitted: false, readmitted: false, policies },
  };
}

/** The part of a stored row that the model knows. */
export function modelled(row: TaskRow): Omit<ModelTask, 'admitted'> {
  const { state, entry, attempt, crashes, worker, readmitted, policies } = row;
  if (state === 'canceling' || state === 'rolling_back' || state === 'canceled') throw new Error(state);
  const incarnation = state === 'running' ? (worker?.incarnation ?? null) : null;
  return { state, entry, attempt, crashes, worker: incarnation, readmitted, policies };
}

/** Waits with the next entry, to be admitted again. */
function waitAgain(task: ModelTask): void {
  Object.assign(task, { state: 'waiting', entry: task.entry + 1, worker: null, admitted: false });
}

const runsHere = (model: Model, task: ModelTask, worker: string, entry: number): boolean =>
  !model.reaped.has(worker) && task.state === 'running' && task.worker === worker && task.entry === entry;

export function claim(model: Model, task: ModelTask, worker: string, entry: number): string {
  if (model.reaped.has(worker)) return 'reaped';
  if (task.state === 'waiting' && task.entry === entry) {
    Object.assign(task, { state: 'running', worker, attempt: task.attempt + 1 });
    return 'claimed';
  }
  return runsHere(model, task, worker, entry) ? 'runs-here' : 'refused';
}

export function finish(
  model: Model,
  task: ModelTask,
  worker: string,
  entry: number,
  how: 'completed' | 'failed' | 'retry',
): string {
  if (!runsHere(model, task, worker, entry)) return 'refused';
  if (how === 'retry') waitAgain(task);
  else Object.assign(task, { state: how, worker: null });
  return 'finished';
}

export function giveBack(model: Model, task: ModelTask, worker: string, entry: number): number | 'refused' {
  if (model.reaped.has(worker)) return 'refused';
  const ran = runsHere(model, task, worker, entry);
  if (!ran && !(task.state === 'waiting' && task.entry === entry)) return 'refused';
  if (ran) task.attempt -= 1;
  waitAgain(task);
  return task.entry;
}

export function readmit(model: Model, task: ModelTask, worker: string, entry: number): number | 'refused' {
  if (!runsHere(model, task, worker, entry) || task.readmitted) return 'refused';
  Object.assign(task, { readmitted: true, attempt: task.attempt - 1 });
  waitAgain(task);
  return task.entry;
}

export function mark(task: ModelTask, entry: number): 'marked' | 'runs' | 'refused' {
  if (task.entry !== entry) return 'refused';
  if (task.state === 'running') return 'runs';
  if (task.state !== 'waiting') return 'refused';
  task.admitted = true;
  return 'marked';
}

export function settle(model: Model, task: ModelTask, worker: string, entry: number): number | string {
  const lost = model.reaped.has(worker) && task.state === 'running' && task.worker === worker;
  if (!lost || task.entry !== entry) return 'refused';
  task.crashes += 1;
  const { maxAttempts = 1, maxCrashes = 3, onWorkerLost = null } = task.policies ?? {};
  const spent = onWorkerLost === 'fail' || (onWorkerLost === null && task.attempt >= maxAttempts);
  if (task.crashes >= maxCrashes || spent) {
    Object.assign(task, { state: 'failed', worker: null });
    return 'failed';
  }
  if (onWorkerLost === 'retry') task.attempt -= 1;
  waitAgain(task);
  return task.entry;
}

import type { CancelOutcome, Policies, RetryOutcome, TaskRow } from '../../src/store/store.js';
import type { TaskState } from '../../src/store/task-state.js';

/** What the store must make of one task: the state machine, without a database. */
export interface ModelTask {
  state: Exclude<TaskState, 'rolling_back'>;
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
  /** The queue of all of them. */
  paused: boolean;
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
  if (state === 'rolling_back') throw new Error(state);
  const incarnation = isRunningLike(state) ? (worker?.incarnation ?? null) : null;
  return { state, entry, attempt, crashes, worker: incarnation, readmitted, policies };
}

function isRunningLike(state: TaskState): boolean {
  return state === 'running' || state === 'canceling';
}

function endAs(task: ModelTask, state: ModelTask['state']): void {
  Object.assign(task, { state, worker: null });
}

/** Waits with the next entry, to be admitted again. */
function waitAgain(task: ModelTask): void {
  Object.assign(task, { state: 'waiting', entry: task.entry + 1, worker: null, admitted: false });
}

const runsHere = (model: Model, task: ModelTask, worker: string, entry: number): boolean =>
  !model.reaped.has(worker) && isRunningLike(task.state) && task.worker === worker && task.entry === entry;

export function claim(model: Model, task: ModelTask, worker: string, entry: number): string {
  if (model.reaped.has(worker)) return 'reaped';
  if (task.state === 'waiting' && task.entry === entry && !model.paused) {
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
  if (task.state === 'canceling') endAs(task, 'canceled');
  else if (how === 'retry') waitAgain(task);
  else endAs(task, how);
  return task.state;
}

export function giveBack(model: Model, task: ModelTask, worker: string, entry: number): number | string {
  if (model.reaped.has(worker)) return 'refused';
  const ran = runsHere(model, task, worker, entry);
  if (!ran && !(task.state === 'waiting' && task.entry === entry)) return 'refused';
  if (task.state === 'canceling') {
    endAs(task, 'canceled');
    return 'canceled';
  }
  if (ran) task.attempt -= 1;
  waitAgain(task);
  return task.entry;
}

export function readmit(model: Model, task: ModelTask, worker: string, entry: number): number | 'refused' {
  if (!runsHere(model, task, worker, entry) || task.readmitted || task.state === 'canceling')
    return 'refused';
  Object.assign(task, { readmitted: true, attempt: task.attempt - 1 });
  waitAgain(task);
  return task.entry;
}

export function mark(task: ModelTask, entry: number): 'marked' | 'runs' | 'refused' {
  if (task.entry !== entry) return 'refused';
  if (isRunningLike(task.state)) return 'runs';
  if (task.state !== 'waiting') return 'refused';
  task.admitted = true;
  return 'marked';
}

export function settle(model: Model, task: ModelTask, worker: string, entry: number): number | string {
  const lost = model.reaped.has(worker) && isRunningLike(task.state) && task.worker === worker;
  if (!lost || task.entry !== entry) return 'refused';
  task.crashes += 1;
  if (task.state === 'canceling') {
    endAs(task, 'canceled');
    return 'settled';
  }
  const { maxAttempts = 1, maxCrashes = 3, onWorkerLost = null } = task.policies ?? {};
  const spent = onWorkerLost === 'fail' || (onWorkerLost === null && task.attempt >= maxAttempts);
  if (task.crashes >= maxCrashes || spent) {
    endAs(task, 'failed');
    return 'settled';
  }
  if (onWorkerLost === 'retry') task.attempt -= 1;
  waitAgain(task);
  return task.entry;
}

export function cancel(task: ModelTask): CancelOutcome {
  const before = task.state;
  if (before === 'waiting') task.state = 'canceled';
  else if (before === 'running') task.state = 'canceling';
  return { before, after: task.state };
}

export function retryByHand(task: ModelTask): RetryOutcome {
  const before = task.state;
  if (before === 'failed' || before === 'canceled') {
    waitAgain(task);
    Object.assign(task, { attempt: 0, crashes: 0, readmitted: false });
  }
  return { before, after: task.state };
}

/** Their old holds are to be taken out. */
export function pause(model: Model): void {
  if (model.paused) return;
  model.paused = true;
  for (const task of model.tasks) if (task.state === 'waiting') waitAgain(task);
}

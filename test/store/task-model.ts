import type { StoredRollback } from '../../src/store/attempt-record.js';
import type { CancelOutcome, Policies, TaskRow } from '../../src/store/store.js';
import type { RetryOutcome } from '../../src/store/retry.js';
import type { TaskState } from '../../src/store/task-state.js';

/** What the store must make of one task: the state machine, without a database. */
export interface ModelTask {
  state: TaskState;
  entry: number;
  attempt: number;
  crashes: number;
  worker: string | null;
  /** '0': in none; '-1': given back, so that nobody knows. */
  admittedEpoch: string;
  /** The last entry whose hold admission is to take out. */
  takeOut: number | null;
  readmitted: boolean;
  policies: Policies | null;
  /** What becomes of it once it has rolled back. */
  outcome: StoredRollback['outcome'] | null;
}

export interface Model {
  tasks: ModelTask[];
  reaped: Set<string>;
  /** They said that they have stopped what they ran. */
  stopped: Set<string>;
  /** The queue of all of them. */
  paused: boolean;
}

export function modelTask(policies: Policies | null): ModelTask {
  return {
    ...{ state: 'waiting', entry: 1, attempt: 0, crashes: 0, worker: null },
    ...{ admittedEpoch: '0', takeOut: null, readmitted: false, policies, outcome: null },
  };
}

/** The part of a stored row that the model knows. */
export function modelled(row: TaskRow): Omit<ModelTask, 'admittedEpoch' | 'takeOut'> {
  const { state, entry, attempt, crashes, worker, readmitted, policies, rollback } = row;
  const incarnation = isRunningLike(state) ? (worker?.incarnation ?? null) : null;
  const outcome = rollback?.outcome ?? null;
  return { state, entry, attempt, crashes, worker: incarnation, readmitted, policies, outcome };
}

function isRunningLike(state: TaskState): boolean {
  return state === 'running' || state === 'canceling' || state === 'rolling_back';
}

function endAs(task: ModelTask, state: ModelTask['state']): void {
  Object.assign(task, { state, worker: null, outcome: null });
}

/** Waits with the next entry, to be admitted again; given back, its hold may move on to that entry. */
function waitAgain(task: ModelTask, admittedEpoch: '0' | '-1' = '0'): void {
  const next = { entry: task.entry + 1, worker: null, admittedEpoch, outcome: null };
  Object.assign(task, { state: 'waiting', ...next });
}

/** Where the task has a roll-back, it goes there first. */
function rollsBack(task: ModelTask, outcome: ModelTask['outcome']): boolean {
  if ((task.policies?.rollbackTimeoutMs ?? null) === null) return false;
  const decided = task.state === 'canceling' ? 'canceled' : outcome;
  Object.assign(task, { state: 'rolling_back', entry: task.entry + 1, worker: null, outcome: decided });
  return true;
}

const isOf = (model: Model, task: ModelTask, worker: string, entry: number): boolean =>
  !model.reaped.has(worker) && isRunningLike(task.state) && task.worker === worker && task.entry === entry;

const runsHere = (model: Model, task: ModelTask, worker: string, entry: number): boolean =>
  isOf(model, task, worker, entry) && task.state !== 'rolling_back';

const isUnclaimed = ({ state, worker }: ModelTask): boolean =>
  state === 'waiting' || (state === 'rolling_back' && worker === null);

export function claim(model: Model, task: ModelTask, worker: string, entry: number): string {
  if (model.reaped.has(worker)) return 'reaped';
  if (isUnclaimed(task) && task.entry === entry && !(task.state === 'waiting' && model.paused)) {
    if (task.state === 'waiting') Object.assign(task, { state: 'running', attempt: task.attempt + 1 });
    task.worker = worker;
    return 'claimed';
  }
  return isOf(model, task, worker, entry) ? 'runs-here' : 'refused';
}

export function finish(
  model: Model,
  task: ModelTask,
  worker: string,
  entry: number,
  how: 'completed' | 'failed' | 'retry',
  begun: boolean,
): string {
  if (!runsHere(model, task, worker, entry)) return 'refused';
  const completed = how === 'completed' && task.state !== 'canceling';
  if (begun && !completed && rollsBack(task, how === 'completed' ? 'canceled' : how)) return task.state;
  if (task.state === 'canceling') endAs(task, 'canceled');
  else if (how === 'retry') waitAgain(task);
  else endAs(task, how);
  return task.state;
}

export function finishRollback(model: Model, task: ModelTask, worker: string, entry: number): string {
  if (!isOf(model, task, worker, entry) || task.state !== 'rolling_back') return 'refused';
  endRollback(task);
  return task.state;
}

export function endUnclaimed(tasks: readonly ModelTask[]): void {
  for (const task of tasks) {
    if (task.state !== 'rolling_back' || task.worker !== null) continue;
    const over = task.entry;
    endRollback(task);
    task.takeOut = over;
  }
}

function endRollback(task: ModelTask): void {
  if (task.outcome === 'failed' || task.outcome === 'canceled') return endAs(task, task.outcome);
  if (task.outcome === 'given-back') task.attempt -= 1;
  waitAgain(task, '-1');
}

export function giveBack(
  model: Model,
  task: ModelTask,
  worker: string,
  entry: number,
  begun: boolean,
): number | string {
  if (model.reaped.has(worker)) return 'refused';
  const ran = isOf(model, task, worker, entry);
  if (!ran && !(isUnclaimed(task) && task.entry === entry)) return 'refused';
  if (task.state === 'rolling_back') {
    Object.assign(task, { entry: task.entry + 1, worker: null });
    return task.entry;
  }
  if (begun && ran && rollsBack(task, 'given-back')) return task.entry;
  if (task.state === 'canceling') {
    endAs(task, 'canceled');
    return 'canceled';
  }
  if (ran) task.attempt -= 1;
  waitAgain(task, '-1');
  return task.entry;
}

export function readmit(model: Model, task: ModelTask, worker: string, entry: number): number | 'refused' {
  if (!runsHere(model, task, worker, entry) || task.readmitted || task.state === 'canceling')
    return 'refused';
  Object.assign(task, { readmitted: true, attempt: task.attempt - 1 });
  waitAgain(task);
  return task.entry;
}

export function mark(task: ModelTask, entry: number, epoch: string): 'marked' | 'runs' | 'refused' {
  if (task.entry !== entry) return 'refused';
  if (isRunningLike(task.state)) return 'runs';
  if (task.state !== 'waiting') return 'refused';
  task.admittedEpoch = epoch;
  return 'marked';
}

export function settle(model: Model, task: ModelTask, worker: string, entry: number): number | string {
  const lost = model.reaped.has(worker) && isRunningLike(task.state) && task.worker === worker;
  if (!lost || task.entry !== entry) return 'refused';
  // Policies are written before a handler begins: without them none has.
  const stopped = model.stopped.has(worker) || task.policies === null;
  if (!stopped) task.crashes += 1;
  if (task.state === 'rolling_back') {
    Object.assign(task, { entry: task.entry + 1, worker: null });
    return task.entry;
  }
  const { maxAttempts = 1, maxCrashes = 3, onWorkerLost = null } = task.policies ?? {};
  const uncounted = stopped || onWorkerLost === 'retry';
  const spent = onWorkerLost === 'fail' || (!uncounted && task.attempt >= maxAttempts);
  const fails = (!stopped && task.crashes >= maxCrashes) || spent;
  if (rollsBack(task, fails ? 'failed' : uncounted ? 'given-back' : 'retry')) return task.entry;
  if (task.state === 'canceling' || fails) {
    endAs(task, task.state === 'canceling' ? 'canceled' : 'failed');
    return 'settled';
  }
  if (uncounted) task.attempt -= 1;
  waitAgain(task, '-1');
  return task.entry;
}

export function cancel(task: ModelTask): CancelOutcome {
  const before = task.state;
  if (before === 'waiting') Object.assign(task, { state: 'canceled', takeOut: task.entry });
  else if (before === 'running') task.state = 'canceling';
  else if (before === 'rolling_back' && task.outcome !== 'failed') task.outcome = 'canceled';
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

export function pause(model: Model): void {
  if (model.paused) return;
  model.paused = true;
  takeOutWaiting(model.tasks);
}

/** They may have holds that are to be taken out. */
export function takeOutWaiting(tasks: readonly ModelTask[]): void {
  for (const task of tasks) {
    if (task.state !== 'waiting') continue;
    const over = task.entry;
    waitAgain(task);
    task.takeOut = over;
  }
}

export function clearTakeOut(
  { paused }: Pick<Model, 'paused'>,
  task: ModelTask,
  entry: number,
  stale: boolean,
): void {
  if (task.takeOut !== entry) return;
  task.takeOut = null;
  // The table has a hold of it of which the store does not know.
  if (!stale || task.state !== 'waiting' || task.admittedEpoch !== '0') return;
  if (paused) takeOutWaiting([task]);
  else task.admittedEpoch = '-1';
}

/** What becomes of a hold of a dead worker, with the entry that it has in the table. */
export function settleHold(
  model: Model,
  task: ModelTask,
  worker: string,
  held: number,
): number | 'over' | 'unsettled' | 'later' | 'refused' {
  if (!model.reaped.has(worker)) return 'refused';
  const unsettled = task.state === 'waiting' || isRunningLike(task.state);
  if (!unsettled || task.entry < held) return 'over';
  const very = task.entry === held;
  if (very && task.worker !== null) return 'unsettled';
  const pausedHere = task.state === 'waiting' && model.paused;
  if (very && task.state === 'rolling_back') task.entry += 1;
  else if (very) waitAgain(task, '-1');
  if (pausedHere) return 'over';
  if (very) return task.entry;
  return task.worker === null ? 'later' : 'over';
}

import type { Finish, FinishOutcome } from '../../src/store/finish.js';
import type { LostHoldOutcome, LostTaskOutcome } from '../../src/store/lost-workers.js';
import type {
  AdmissionNeed,
  CancelOutcome,
  Claim,
  ClaimOutcome,
  GiveBack,
  GiveBackOutcome,
  RunningTask,
  TaskEntry,
  TaskRow,
} from '../../src/store/store.js';
import type { Guards } from './guards.js';
import * as model from '../store/task-model.js';
import {
  holdSource,
  isServed,
  isUnsettled,
  jobLane,
  queue,
  rowOf,
  taskOf,
  type Rows,
  type StoredTask,
} from './rows.js';

/** The calls of the store that are one statement: each happens at once, or waits while somebody has what it needs locked. */
export class StoreCalls {
  readonly rows: Rows;
  readonly #guards: Guards;

  constructor(rows: Rows, guards: Guards) {
    this.rows = rows;
    this.#guards = guards;
  }

  readNamespace(): object {
    const { epoch, identity } = this.rows;
    return { epoch, identity, tableKind: null, tableAddress: null };
  }

  getTask(id: string): TaskRow | null {
    const task = taskOf(this.rows, id);
    return task === undefined ? null : rowOf(this.rows, task);
  }

  cancelTask(id: string): CancelOutcome | null {
    const task = taskOf(this.rows, id);
    if (task === undefined) return null;
    if (task.requester !== null) return { before: task.state, after: task.state };
    return model.cancel(task);
  }

  claimTasks({ worker, epoch, claims }: { worker: string; epoch: string; claims: Claim[] }): ClaimOutcome {
    const { rows } = this;
    if (this.#guards.on('claim-checks-epoch') && rows.epoch !== epoch) return { status: 'epoch' };
    if (!this.#mayAct(worker, 'claim-checks-reaped')) return { status: 'reaped' };
    const claimed: TaskRow[] = [];
    const refused: (TaskEntry & { runsHere: boolean })[] = [];
    for (const { task: id, entry, fence } of claims) {
      const task = taskOf(rows, id);
      const mine = task !== undefined && (task.requester ?? worker) === worker;
      const at = this.#guards.on('claim-checks-entry') ? entry : (task?.entry ?? entry);
      const answer = mine ? this.#asUnreaped(worker, () => model.claim(rows, task, worker, at)) : 'refused';
      if (answer === 'claimed' && mine) {
        task.fence = fence;
        claimed.push({ ...rowOf(rows, task), entry });
      } else refused.push({ task: id, entry, runsHere: answer === 'runs-here' });
    }
    return { status: 'claimed', claimed, refused };
  }

  finishTasks(worker: string, finishes: Finish[]): FinishOutcome[] {
    return finishes.map(({ task: id, entry, ...finish }) => {
      const task = taskOf(this.rows, id);
      if (task === undefined) return { task: id, entry, outcome: 'refused' };
      const outcome = this.#guarded('finish', task, worker, entry, (by, at) => {
        if (finish.state !== 'completed' && finish.state !== 'failed' && finish.state !== 'retry') {
          return model.finishRollback(this.rows, task, by, at);
        }
        const begun = 'rollBack' in finish && finish.rollBack;
        return model.finish(this.rows, task, by, at, finish.state, begun);
      });
      if (finish.state === 'retry' && outcome === 'waiting') task.place = ++this.rows.lastPlace;
      return { task: id, entry, outcome: outcome as FinishOutcome['outcome'] };
    });
  }

  giveBackTasks(worker: string, tasks: GiveBack[]): GiveBackOutcome[] {
    return tasks.map(({ task: id, entry, rollBack }) => {
      const task = taskOf(this.rows, id);
      const before = task?.state;
      const nextEntry =
        task === undefined || task.requester !== null
          ? 'refused'
          : (this.#guarded('give-back', task, worker, entry, (by, at) =>
              model.giveBack(this.rows, task, by, at, rollBack === true),
            ) as GiveBackOutcome['nextEntry']);
      const rollsBack = typeof nextEntry === 'number' && task?.state === 'rolling_back';
      const paused = typeof nextEntry === 'number' && !rollsBack && this.rows.paused && before !== undefined;
      return { task: id, entry, nextEntry, rollsBack, ...(paused && { paused }) };
    });
  }

  rollbacksAmong(ids: string[]): TaskEntry[] {
    return this.rows.tasks
      .filter(({ id, state }) => ids.includes(id) && state === 'rolling_back')
      .map(({ id, entry }) => ({ task: id, entry }));
  }

  runningOf(worker: string): RunningTask[] {
    return this.rows.tasks
      .filter((task) => task.worker === worker && isUnsettled(task))
      .map(({ id, entry, state }) => ({ task: id, entry, canceling: state === 'canceling' }));
  }

  beat(worker: string): 'beaten' | 'reaped' {
    if (!this.#mayAct(worker, 'beat-checks-reaped')) return 'reaped';
    const row = this.rows.workers.get(worker);
    if (row !== undefined) row.counter += 1;
    return 'beaten';
  }

  sayStopped(worker: string): void {
    if (!this.rows.reaped.has(worker)) this.rows.stopped.add(worker);
  }

  reapWorker(worker: string, counter?: string): 'reaped' | 'already' | 'alive' | 'gone' {
    const row = this.rows.workers.get(worker);
    if (row === undefined) return 'gone';
    if (this.rows.reaped.has(worker)) return 'already';
    if (counter !== undefined && String(row.counter) !== counter) return 'alive';
    this.rows.reaped.add(worker);
    return 'reaped';
  }

  settleLostTasks(worker: string, tasks: TaskEntry[]): LostTaskOutcome[] {
    return tasks.map(({ task: id, entry }) => {
      const task = taskOf(this.rows, id);
      if (task === undefined) return { outcome: 'refused' };
      if (task.requester === null && this.isLocked(id)) return { outcome: 'locked' };
      if (task.requester !== null) {
        if (task.worker !== worker || !isUnsettled(task)) return { outcome: 'refused' };
        this.#delete(id);
        return { outcome: 'settled' };
      }
      const answer = this.#guarded('settle', task, worker, entry, (by, at) =>
        model.settle(this.rows, task, by, at),
      );
      if (typeof answer === 'number') return { outcome: 'given-back', nextEntry: answer };
      return { outcome: answer as 'settled' | 'refused' };
    });
  }

  settleLostLocks(requester: string): string[] | 'refused' {
    if (this.rows.workers.has(requester) && !this.rows.reaped.has(requester)) return 'refused';
    const held: string[] = [];
    for (const task of [...this.rows.tasks]) {
      if (task.requester !== requester) continue;
      if (task.state === 'running') {
        held.push(task.id);
        this.#delete(task.id);
      } else if (task.state === 'waiting') Object.assign(task, { state: 'canceled', takeOut: task.entry });
    }
    return held;
  }

  settleLostHolds(worker: string, holds: TaskEntry[]): LostHoldOutcome[] | 'refused' {
    if (this.rows.workers.has(worker) && !this.rows.reaped.has(worker)) return 'refused';
    return holds.map(({ task: id, entry }) => {
      const task = taskOf(this.rows, id);
      if (task === undefined || task.requester !== null) return 'over';
      if (this.isLocked(id)) return isUnsettled(task) && task.entry >= entry ? 'unsettled' : 'over';
      return model.settleHold(this.rows, task, worker, entry) as LostHoldOutcome;
    });
  }

  removeWorker(worker: string): 'removed' | 'running' {
    const runs = this.rows.tasks.some((task) => task.worker === worker && isUnsettled(task));
    const waits = this.rows.tasks.some((task) => task.requester === worker && task.state === 'waiting');
    if (runs || waits) return 'running';
    this.rows.workers.delete(worker);
    // To every guard, one that is gone is as dead as one that is reaped.
    this.rows.reaped.add(worker);
    return 'removed';
  }

  servingWorkers(): object[] {
    return [...this.rows.workers.values()]
      .filter(({ incarnation }) => !this.rows.reaped.has(incarnation))
      .map(({ incarnation, serves }) =>
        serves === null
          ? { queues: [], names: [], versions: {}, requester: incarnation }
          : { queues: [queue], names: [serves], versions: {}, requester: null },
      );
  }

  workersNamed(name: string): object[] {
    return [...this.rows.workers.values()]
      .filter((worker) => worker.name === name)
      .map(({ incarnation, counter }) => ({
        ...{ incarnation, pid: 1, identity: {}, counter: String(counter) },
        reaped: this.rows.reaped.has(incarnation),
      }));
  }

  workersAmong(incarnations: string[]): string[] {
    return incarnations.filter((incarnation) => this.rows.workers.has(incarnation));
  }

  longestTtlMs(): number {
    return 15_000;
  }

  admissionNeeded(epoch: string): AdmissionNeed {
    const { tasks, admission, paused, phase } = this.rows;
    const waiting = paused
      ? []
      : tasks.filter((task) => task.state === 'waiting' && task.admittedEpoch !== epoch);
    const lanes = [...new Set(waiting.map(({ lane }) => lane))].sort();
    // Whoever admits here serves the lane of all jobs, and asks only for the others'.
    const others = tasks.filter(
      (task) => task.state === 'waiting' && this.mayHaveHold(task, epoch) && task.lane !== jobLane,
    );
    const admitted = [...new Set(others.map(({ lane }) => lane))].sort();
    const takeOuts = tasks.some(({ takeOut }) => takeOut !== null) || (phase !== null && phase !== 'paused');
    const rollbacksOver = tasks.some(isRollbackOver);
    const unserved = others.some((task) => task.requester === null && !isServed(this.rows, task));
    const isOwn = waiting.some(({ lane, requester }) => lane === jobLane || requester !== null);
    const free = isOwn || unserved || takeOuts || rollbacksOver ? admission === null : null;
    return { lanes, admitted, due: false, takeOuts, rollbacksOver, free };
  }

  /** What was given back may have one, whether it is admitted or not. */
  mayHaveHold({ admittedEpoch }: StoredTask, epoch: string): boolean {
    return (
      admittedEpoch === epoch || (admittedEpoch === '-1' && this.#guards.on('given-back-may-have-holds'))
    );
  }

  /** Pausing begins under the lock of admission. */
  beginPause(): void {
    if (this.rows.phase === null || this.rows.phase === 'resuming') this.rows.phase = 'taking-out';
    this.rows.paused = true;
  }

  beginResume(): void {
    if (this.rows.phase !== null) this.rows.phase = 'resuming';
  }

  continuePause(): Rows['phase'] {
    const { rows } = this;
    if (rows.phase === 'taking-out') {
      if (this.#guards.on('pause-raises-entries')) model.takeOutWaiting(rows.tasks.filter(isOfQueue));
      rows.phase = 'paused';
    } else if (rows.phase === 'resuming') {
      for (const task of rows.tasks) {
        if (isOfQueue(task) && task.state === 'waiting') task.place = ++rows.lastPlace;
      }
      rows.phase = null;
      rows.paused = false;
    }
    return rows.phase;
  }

  isLocked(id: string): boolean {
    return this.rows.admission?.rows.has(id) === true;
  }

  holdSourceOf(id: string): object {
    return holdSource(taskOf(this.rows, id) as StoredTask);
  }

  #mayAct(worker: string, guard: string): boolean {
    return !this.#guards.on(guard) || !this.rows.reaped.has(worker);
  }

  #asUnreaped<T>(worker: string, work: () => T): T {
    if (this.#guards.on('claim-checks-reaped') || !this.rows.reaped.has(worker)) return work();
    return this.#without(worker, work);
  }

  /** With the guards that are on: those that are off are given what they would ask for. */
  #guarded<T>(
    what: string,
    task: StoredTask,
    worker: string,
    entry: number,
    work: (worker: string, entry: number) => T,
  ): T {
    const at = this.#guards.on(`${what}-checks-entry`) ? entry : task.entry;
    const by = this.#guards.on(`${what}-checks-worker`) ? worker : (task.worker ?? worker);
    if (this.#guards.on(`${what}-checks-reaped`)) return work(by, at);
    return what === 'settle' ? this.#asReaped(by, () => work(by, at)) : this.#without(by, () => work(by, at));
  }

  #without<T>(worker: string, work: () => T): T {
    const was = this.rows.reaped.delete(worker);
    const answer = work();
    if (was) this.rows.reaped.add(worker);
    return answer;
  }

  #asReaped<T>(worker: string, work: () => T): T {
    const was = this.rows.reaped.has(worker);
    this.rows.reaped.add(worker);
    const answer = work();
    if (!was) this.rows.reaped.delete(worker);
    return answer;
  }

  #delete(id: string): void {
    this.rows.tasks = this.rows.tasks.filter((task) => task.id !== id);
  }
}

function isOfQueue({ requester }: StoredTask): boolean {
  return requester === null;
}

/** Time passes as the explorer likes; a roll-back without time is over as soon as nobody has it. */
export function isRollbackOver({ state, worker, policies }: StoredTask): boolean {
  return state === 'rolling_back' && worker === null && policies?.rollbackTimeoutMs === 0;
}

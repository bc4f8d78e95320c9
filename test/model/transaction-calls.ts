import type { HoldSource, RefusedMark, RunningLikeTask, TaskEntry } from '../../src/store/store.js';
import type { Guards } from './guards.js';
import type { StoreCalls } from './store-calls.js';
import { Unavailable } from '../../src/errors.js';
import * as model from '../store/task-model.js';
import { holdSource, isUnsettled, taskOf, type Rows, type StoredTask, type Transaction } from './rows.js';
import { isRollbackOver } from './store-calls.js';

/** The statements of the two transactions that take several calls: an admission pass and a rebuild. */
export class TransactionCalls {
  readonly #rows: Rows;
  readonly #calls: StoreCalls;
  readonly #guards: Guards;

  constructor(calls: StoreCalls, guards: Guards) {
    this.#rows = calls.rows;
    this.#calls = calls;
    this.#guards = guards;
  }

  openPass(): { transaction: number; pass: string; epoch: string | null } | null {
    const rows = this.#rows;
    if (rows.admission !== null && this.#guards.on('one-pass-at-a-time')) return null;
    rows.admission = this.#begin('admission');
    return { transaction: rows.admission.id, pass: String(++rows.lastPass), epoch: rows.epoch };
  }

  lockForRebuild(): { transaction: number; epoch: string | null; identity: string | null } {
    const rows = this.#rows;
    rows.rebuild = this.#begin('rebuild');
    return { transaction: rows.rebuild.id, epoch: rows.epoch, identity: rows.identity };
  }

  commit(id: number): void {
    const transaction = this.#open(id);
    const { rows: changed, deleted, opens } = transaction;
    this.#rows.tasks = this.#rows.tasks
      .filter((task) => !deleted.has(task.id))
      .map((task) => changed.get(task.id) ?? task);
    if (opens !== null) Object.assign(this.#rows, opens);
    this.end(id);
  }

  /** Of whoever had it: its locks are free, and nothing of it is left. */
  end(id: number): void {
    if (this.#rows.admission?.id === id) this.#rows.admission = null;
    if (this.#rows.rebuild?.id === id) this.#rows.rebuild = null;
  }

  openTransactions(): Transaction[] {
    return [this.#rows.admission, this.#rows.rebuild].filter((one) => one !== null);
  }

  // Admission

  lanesToAdmit(id: number, epoch: string): string[] {
    this.#open(id);
    return [...new Set(this.#toAdmit(epoch).map(({ lane }) => lane))].sort();
  }

  tasksToAdmit(
    id: number,
    {
      epoch,
      lanes,
      afterPlace,
      limit,
    }: { epoch: string; lanes: string[]; afterPlace: string; limit: number },
  ): HoldSource[] {
    this.#open(id);
    return this.#toAdmit(epoch)
      .filter(({ lane, place }) => lanes.includes(lane) && place > Number(afterPlace))
      .sort((a, b) => a.place - b.place)
      .slice(0, limit)
      .map(holdSource);
  }

  markAdmitted(id: number, epoch: string, tasks: TaskEntry[]): RefusedMark[] {
    const transaction = this.#open(id);
    return tasks.flatMap(({ task, entry }) => {
      const row = taskOf(this.#rows, task);
      if (row === undefined) return [{ task, entry, runs: false }];
      const copy = { ...row };
      const at = this.#guards.on('mark-checks-entry') ? entry : row.entry;
      const answer = model.mark(copy, at, epoch);
      if (answer === 'marked') {
        transaction.rows.set(task, copy);
        return [];
      }
      return [{ task, entry, runs: answer === 'runs' && this.#guards.on('mark-spares-what-runs') }];
    });
  }

  continuePauses(id: number): boolean {
    this.#open(id);
    // Written by a statement of its own in the product; here it commits with it, since the pass takes out only later.
    const phase = this.#rows.phase;
    if (phase === null || phase === 'paused') return false;
    this.#calls.continuePause();
    return false;
  }

  markedTakeOuts(id: number): TaskEntry[] {
    this.#open(id);
    return this.#rows.tasks
      .filter(({ takeOut }) => takeOut !== null)
      .sort((a, b) => a.place - b.place)
      .map(({ id: task, takeOut }) => ({ task, entry: takeOut ?? 0 }));
  }

  clearTakeOuts(id: number, gone: TaskEntry[], stale: TaskEntry[] = []): void {
    const transaction = this.#open(id);
    for (const marked of [...gone, ...stale]) {
      const row = taskOf(this.#rows, marked.task);
      if (row?.takeOut !== marked.entry) continue;
      if (row.requester !== null) transaction.deleted.add(marked.task);
      model.clearTakeOut(this.#rows, this.#own(transaction, row), marked.entry, stale.includes(marked));
    }
  }

  endUnclaimedRollbacks(id: number): number {
    const transaction = this.#open(id);
    const over = this.#rows.tasks.filter(isRollbackOver);
    model.endUnclaimed(over.map((task) => this.#own(transaction, task)));
    return over.length;
  }

  takeOutUnserved(id: number, { epoch, lanes }: { epoch: string; lanes: string[] }): number {
    const transaction = this.#open(id);
    const unserved = this.#rows.tasks.filter(
      (task) => task.state === 'waiting' && this.#calls.mayHaveHold(task, epoch) && lanes.includes(task.lane),
    );
    model.takeOutWaiting(unserved.map((task) => this.#own(transaction, task)));
    return unserved.length;
  }

  // A new epoch

  drawEpoch(id: number, seen: string | null): string {
    this.#open(id);
    const larger = this.#guards.on('epochs-grow') ? Math.max(this.#rows.lastEpoch, Number(seen ?? 0)) : 0;
    this.#rows.lastEpoch = larger + 1;
    return String(this.#rows.lastEpoch);
  }

  runningLike(id: number): RunningLikeTask[] {
    this.#open(id);
    const counts = (task: StoredTask): boolean => {
      if (task.state === 'canceling') return this.#guards.on('rebuild-counts-canceling');
      if (task.state === 'rolling_back') return this.#guards.on('rebuild-counts-rolling-back');
      return task.state === 'running';
    };
    return this.#rows.tasks.filter(counts).map((task) => {
      const { worker, fence } = task;
      const owner =
        worker === null ? null : { name: this.#rows.names.get(worker) ?? '', incarnation: worker };
      return { ...holdSource(task), owner, fence: owner === null ? null : fence };
    });
  }

  commitEpoch(id: number, { epoch, identity }: { epoch: string; identity: string }): void {
    this.#open(id).opens = { epoch, identity };
  }

  #begin(kind: Transaction['kind']): Transaction {
    const id = ++this.#rows.lastTransaction;
    return { id, kind, rows: new Map(), deleted: new Set(), opens: null, abandoned: false };
  }

  #open(id: number): Transaction {
    const open = this.openTransactions().find((one) => one.id === id);
    if (open === undefined) throw new Unavailable('The session was ended by the server.');
    return open;
  }

  /** Its own copy of the row, which is locked from here on. */
  #own(transaction: Transaction, row: StoredTask): StoredTask {
    const copy = transaction.rows.get(row.id) ?? { ...row };
    transaction.rows.set(row.id, copy);
    return copy;
  }

  #toAdmit(epoch: string): StoredTask[] {
    if (this.#rows.paused) return [];
    return this.#rows.tasks.filter(
      (task) => isUnsettled(task) && task.state === 'waiting' && task.admittedEpoch !== epoch,
    );
  }
}

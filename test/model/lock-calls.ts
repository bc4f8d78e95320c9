import type { InsertRunning, InsertRunningOutcome, LockRequest } from '../../src/store/store.js';
import type { Guards } from './guards.js';
import { lockLane, addTask, rowOf, taskOf, type Rows, type StoredTask } from './rows.js';

/** The statements about what a process inserts for itself: ad-hoc locks, and tasks that it runs at once. */
export class LockCalls {
  readonly #rows: Rows;
  readonly #guards: Guards;

  constructor(rows: Rows, guards: Guards) {
    this.#rows = rows;
    this.#guards = guards;
  }

  insertRunning({ worker, epoch, number, fence, task, lock }: InsertRunning): InsertRunningOutcome {
    if (this.#guards.on('insert-checks-epoch') && this.#rows.epoch !== epoch) return { status: 'epoch' };
    const refused = this.#refused(worker, number);
    if (refused !== null) return { status: refused };
    const row = this.#add(task, lock ? worker : null);
    Object.assign(row, { state: 'running', attempt: 1, worker, fence, policies: task.policies });
    return { status: 'running', row: rowOf(this.#rows, row) };
  }

  requestLock({ requester, number, lock }: LockRequest): 'requested' | 'reaped' | 'void' {
    const refused = this.#refused(requester, number);
    if (refused !== null) return refused;
    this.#add(lock, requester);
    return 'requested';
  }

  voidInserts(worker: string, number: number): 'void' | 'reaped' {
    const row = this.#rows.workers.get(worker);
    if (row === undefined || this.#rows.reaped.has(worker)) return 'reaped';
    row.insertsFrom = Math.max(row.insertsFrom, number + 1);
    return 'void';
  }

  discardTasks(worker: string, ids: string[]): 'discarded' | 'reaped' {
    if (this.#rows.reaped.has(worker) && this.#guards.on('discard-checks-reaped')) return 'reaped';
    for (const id of ids) {
      const task = taskOf(this.#rows, id);
      if (task?.entry !== 1) continue;
      const runs = task.state === 'running' || task.state === 'canceling';
      if (runs && task.worker === worker) this.#rows.tasks = this.#rows.tasks.filter((one) => one !== task);
      if (task.state === 'waiting' && task.requester === worker) {
        Object.assign(task, { state: 'canceled', takeOut: task.entry });
      }
    }
    return 'discarded';
  }

  /** Why nothing is inserted. */
  #refused(worker: string, number: number): 'reaped' | 'void' | null {
    if (this.#rows.reaped.has(worker) && this.#guards.on('insert-checks-reaped')) return 'reaped';
    const from = this.#rows.workers.get(worker)?.insertsFrom ?? 0;
    return number < from && this.#guards.on('insert-checks-number') ? 'void' : null;
  }

  #add(task: Pick<StoredTask, 'id' | 'exclusive' | 'shared'>, requester: string | null): StoredTask {
    const { id, exclusive, shared } = task;
    addTask(this.#rows, { id, exclusive, shared, policies: null });
    const row = taskOf(this.#rows, id) as StoredTask;
    return requester === null ? row : Object.assign(row, { requester, lane: lockLane(requester) });
  }
}

import type { Owner } from '../owner.js';
import type { AuditedTasks } from './audited-tasks.js';
import type { AttemptRecord, StoredRollback } from './attempt-record.js';
import type { Queryable } from './database.js';
import type { Finish, FinishOutcome } from './finish.js';
import type { LostWorkers } from './lost-workers.js';
import type { TaskState } from './task-state.js';
import type { RetriedPage, RetryOutcome, RetryPage } from './retry.js';
import type { NewWorker, ServedByWorker, WorkerRow } from './worker-row.js';

/**
 * What the store answers and changes: one method a query, each one round trip unless it says otherwise.
 * README.md beside this file tells the rules. Durations in milliseconds, 64-bit numbers as decimal strings.
 */
export interface Store extends LostWorkers, AuditedTasks {
  readonly namespace: string;

  // Schema
  migrate(): Promise<{ applied: string[] }>;
  pendingMigrations(): Promise<string[]>;

  // Namespace and epochs
  /** Throws WrongTable where another lock table is recorded than this one. */
  checkLockTable(table: { kind: string; address: string }): Promise<void>;
  /** The same, and records the table where none is: to be called once it was reached. */
  claimLockTable(table: { kind: string; address: string }): Promise<void>;
  readNamespace(): Promise<NamespaceRow>;
  /** Runs `build` while every claim waits; see README.md, "A new epoch". Several round trips. */
  rebuild<T>(build: (rebuild: Rebuild) => Promise<T>): Promise<T>;

  // Dispatch and reading
  /**
   * Inserts tasks in one round trip, in `queryable` when given (a caller's transaction). A task whose id is there
   * already stays as it is, and one whose unique key is kept is not inserted: what is there instead is answered. Throws
   * InvalidTask for what the table cannot hold. `notify`: the commit sends a NOTIFY on the channel of the namespace.
   */
  insertTasks(
    tasks: NewTask[],
    options?: { queryable?: Queryable; notify?: boolean },
  ): Promise<TaskInstead[]>;
  getTask(id: string): Promise<TaskRow | null>;
  /** Newest first, without payloads and results. */
  listTasks(filter: TaskFilter): Promise<TaskRow[]>;
  /**
   * Cancels a task that waits, or asks the worker that runs it to stop it; changes nothing where that is so already
   * or the task is in a final state. null for an unknown one.
   */
  cancelTask(id: string): Promise<CancelOutcome | null>;
  /** Has a task wait again that failed or was canceled; changes nothing in another state. null for an unknown one. */
  retryTask(id: string): Promise<RetryOutcome | null>;
  /** The same for the tasks of a state, a page of them in order of id. */
  retryPage(page: RetryPage): Promise<RetriedPage>;
  /** Of the tasks named, those that are in a final state. */
  settledAmong(ids: string[]): Promise<string[]>;
  /** Of these tasks and locks, what tells who they wait for. */
  waitEdges(ids: string[]): Promise<WaitEdges[]>;
  /** Distinct resources of unsettled tasks, in order, after a name. */
  resourcesInUse(page: { after: string | null; limit: number }): Promise<string[]>;

  // Admission
  /** What a pass would find; cheap enough to be asked every second. */
  admissionNeeded(epoch: string): Promise<AdmissionNeed>;
  /** One admission pass; `busy-elsewhere` when another process has it. Several round trips. */
  admissionPass<T>(pass: (admission: Admission) => Promise<T>): Promise<T | 'busy-elsewhere'>;

  // Queues
  /**
   * From its first round trip on the tasks that wait in the queue are left alone; then the holds that they have are
   * marked to be taken out. Several round trips; what is left of them when it fails, admission does. Throws Unavailable
   * where admission does not pause for it in time.
   */
  pauseQueue(queue: string): Promise<void>;
  /** Gives the tasks that wait in the queue new places in the same order; then they are admitted. As pauseQueue. */
  resumeQueue(queue: string): Promise<void>;
  /** In order of their names. */
  pausedQueues(page: { after: string | null; limit: number }): Promise<PausedQueue[]>;

  // The life of a task
  /** The second half of a claim. One autocommit call; must never be repeated after an unknown outcome. */
  claimTasks(claim: { worker: string; epoch: string; claims: Claim[] }): Promise<ClaimOutcome>;
  /** Final states and retries, and the ends of roll-backs, each guarded by state, entry and worker. */
  finishTasks(worker: string, finishes: Finish[]): Promise<FinishOutcome[]>;
  /** Raises the entry of each task that waits with it, or that this worker runs or rolls back with it. */
  giveBackTasks(worker: string, tasks: GiveBack[]): Promise<GiveBackOutcome[]>;
  /** Of the tasks named, those that roll back, with their entries. */
  rollbacksAmong(ids: string[]): Promise<TaskEntry[]>;
  /**
   * Gives back once, with other resources (the full lists, normalised), a running task whose hold lacks some;
   * `refused` the second time.
   */
  readmitWithResources(
    worker: string,
    task: TaskEntry & { exclusive: string[]; shared: string[] },
  ): Promise<{ nextEntry: number } | 'refused'>;
  /** Writes the policies of tasks that this worker runs with that entry and that were dispatched without any. */
  writePolicies(worker: string, policies: (TaskEntry & { policies: Policies })[]): Promise<void>;
  /** Replaces the progress of tasks that this worker runs with that entry. */
  writeProgress(worker: string, progress: (TaskEntry & { progress: unknown[] })[]): Promise<void>;
  /** All that the worker runs: (task, entry) in any running-like state. */
  runningOf(worker: string): Promise<RunningTask[]>;

  // What a process holds or runs at once
  /** Inserts a task as running, or a held ad-hoc lock, under the checks of a claim. Never repeated with one number. */
  insertRunning(insert: InsertRunning): Promise<InsertRunningOutcome>;
  /** Inserts an ad-hoc lock that waits for its requester. */
  requestLock(request: LockRequest): Promise<'requested' | 'reaped' | 'void'>;
  /** No insert of this worker with such a number, or a smaller one, can take effect from here on. */
  voidInserts(worker: string, number: number): Promise<'void' | 'reaped'>;
  /**
   * Deletes ad-hoc locks that the worker holds, and tasks that it inserted and did not begin; cancels its requests that
   * wait, whose rows admission deletes with their holds. Others are left alone.
   */
  discardTasks(worker: string, ids: string[]): Promise<'discarded' | 'reaped'>;

  // Workers
  registerWorker(worker: NewWorker): Promise<{ incarnation: string }>;
  /** Raises the counter. `reaped` when no row was changed. */
  beat(incarnation: string): Promise<'beaten' | 'reaped'>;
  /**
   * That this worker has ended what it ran, because it may not act any more or stops: what is left of that is no crash.
   * Changes nothing once it is reaped.
   */
  sayStopped(incarnation: string): Promise<void>;
  listWorkers(page: { after: string | null; limit: number }): Promise<WorkerRow[]>;
  /** What live workers serve, for admission. */
  servingWorkers(): Promise<ServedByWorker[]>;
  /** Deletes the row of a worker that stopped in order and has no task or lock; `running` otherwise. */
  removeWorker(incarnation: string): Promise<'removed' | 'running'>;
}

export interface PausedQueue {
  queue: string;
  pausedAt: string;
}

export interface NamespaceRow {
  epoch: string | null;
  identity: string | null;
  tableKind: string | null;
  tableAddress: string | null;
}

/** Inside the exclusive advisory lock of a namespace. */
export interface Rebuild {
  namespace: NamespaceRow;
  /** A number larger than every epoch this namespace has drawn, and than `seen`. */
  drawEpoch(seen: string | null): Promise<string>;
  /** The lowest of the newest formats that the live workers can keep; null where there is none. */
  lowestFormat(): Promise<number | null>;
  /** Running-like tasks in order of id, with what their holds need. */
  runningLike(page: { after: string | null; limit: number }): Promise<RunningLikeTask[]>;
  commitEpoch(epoch: { epoch: string; identity: string }): Promise<void>;
}

export interface RunningLikeTask extends HoldSource {
  owner: Owner | null;
  fence: string | null;
}

/** What a hold is made of. */
export interface HoldSource {
  id: string;
  entry: number;
  lane: string;
  priority: number;
  place: string;
  exclusive: string[];
  shared: string[];
}

export interface AdmissionNeed {
  /** As Admission.lanesToAdmit. */
  lanes: string[];
  /** Lanes with tasks that wait and may have holds in the table: admitted in the epoch, or given back. */
  admitted: string[];
  /** Whether there are tasks whose time has come and that are not yet marked as due. */
  due: boolean;
  /** Whether there are holds to be taken out, or queues whose pause or resumption is not done yet. */
  takeOuts: boolean;
  /** Whether there are roll-backs that nobody has claimed in time. */
  rollbacksOver: boolean;
  /** Whether no process has the lock of admission just now; null where there is nothing to admit. */
  free: boolean | null;
}

/** Inside the advisory lock of admission. */
export interface Admission {
  /** Grows from pass to pass. */
  pass: string;
  /** The committed epoch, or null before the first. */
  epoch: string | null;
  /** Makes tasks admissible whose time has come; returns how many. */
  makeDue(limit: number): Promise<number>;
  /** Lanes with tasks that wait, are due and are not admitted in the epoch; not only those that are served. */
  lanesToAdmit(epoch: string): Promise<string[]>;
  /** The first tasks of those lanes in order of place, after a place: of those there were when it asked for its lanes. */
  tasksToAdmit(request: {
    epoch: string;
    lanes: string[];
    afterPlace: string;
    limit: number;
  }): Promise<HoldSource[]>;
  /**
   * Marks tasks as admitted; returns those that did not wait with that entry any more. Their claims wait until the
   * pass commits, so the batch that was marked should be its last.
   */
  markAdmitted(epoch: string, tasks: TaskEntry[]): Promise<RefusedMark[]>;
  /** Does the next page of what a pause or a resumption left to do; whether there is more. */
  continuePauses(limit: number): Promise<boolean>;
  /**
   * Raises the entries of tasks that wait in these lanes and are admitted in the epoch, or were given back, and marks their
   * holds to be taken out: at most so many a lane of each. They keep their places. Returns how many.
   */
  takeOutUnserved(request: { epoch: string; lanes: string[]; limit: number }): Promise<number>;
  /** Tasks that waited with that entry and do not go on: their holds are to be taken out. */
  markedTakeOuts(limit: number): Promise<TaskEntry[]>;
  /** Ends roll-backs that nobody has claimed in time, and marks their holds to be taken out; returns how many. */
  endUnclaimedRollbacks(limit: number): Promise<number>;
  /**
   * Says that nothing of these is left in the lock table. `stale`, default none: of these a later entry is there, which is
   * marked to be taken out, or its task counts as given back, where nobody is known to have admitted it.
   */
  clearTakeOuts(gone: TaskEntry[], stale?: TaskEntry[]): Promise<void>;
}

/**
 * `runs`: the task runs with that very entry, or somebody is changing its row at this moment (claiming it, most
 * likely), so its hold must stay. In the second case the next pass finds it unmarked again.
 */
export interface RefusedMark extends TaskEntry {
  runs: boolean;
}

export interface TaskEntry {
  task: string;
  entry: number;
}

export interface Claim extends TaskEntry {
  fence: string;
}

/**
 * `reaped`: the worker is dead to the store; do nothing more. `epoch`: forget these claims. Otherwise, per claim,
 * the row that now runs, or `refused` with whether it runs here with that very entry already.
 */
export type ClaimOutcome =
  | { status: 'reaped' }
  | { status: 'epoch' }
  | { status: 'claimed'; claimed: TaskRow[]; refused: (TaskEntry & { runsHere: boolean })[] };

/** `rollBack` as in a finish. */
export interface GiveBack extends TaskEntry {
  rollBack?: boolean;
}

/** `refused`: neither waiting with that entry nor running here with it. `canceled`: it was being canceled, and ends so. */
export interface GiveBackOutcome extends TaskEntry {
  nextEntry: number | 'canceled' | 'refused';
  /** Whether it rolls back under its next entry: then its hold must go on under that. */
  rollsBack: boolean;
  /** Its queue is paused: its hold must not go on. */
  paused?: true;
}

export interface RunningTask extends TaskEntry {
  /** Whether it is to be stopped. */
  canceling: boolean;
}

/** The states of a task before and after it was asked to end. */
export interface CancelOutcome {
  before: TaskState;
  after: TaskState;
}

export interface TaskError {
  code: string;
  message: string;
  /** Why, for programs; where the roll-back did not end well, how that ended. */
  reason?: string;
  /** What the roll-back itself ended with, where it did not end well. */
  rollback?: { code: string; message: string };
}

/** The policies of a definition; null where the definition was not loaded at dispatch. */
export interface Policies {
  maxAttempts: number;
  maxCrashes: number;
  backoff: { initialMs: number; maxMs: number };
  onWorkerLost: 'retry' | 'fail' | null;
  timeoutMs: number | null;
  /** How long a roll-back may take, or nobody claim it; null where there is none. */
  rollbackTimeoutMs: number | null;
}

export interface NewTask {
  id: string;
  name: string;
  queue: string;
  payload: unknown;
  exclusive: string[];
  shared: string[];
  priority: number;
  needs: Record<string, string>;
  runAt: string | null;
  parent: string | null;
  uniqueKey: string | null;
  uniqueMode: UniqueMode;
  policies: Policies | null;
}

/** `number` grows from insert to insert of one worker: see voidInserts. */
export interface InsertRunning {
  worker: string;
  /** That of the hold. */
  epoch: string;
  number: number;
  fence: string;
  task: Omit<NewTask, 'runAt' | 'uniqueKey' | 'uniqueMode'>;
  /** An ad-hoc lock of the worker, and no task. */
  lock: boolean;
}

/** `reaped` and `epoch` as for a claim. `void`: its number was passed; nothing was inserted, nor will it be. */
export type InsertRunningOutcome =
  | { status: 'running'; row: TaskRow }
  | { status: 'reaped' | 'epoch' | 'void' };

export interface LockRequest {
  requester: string;
  number: number;
  lock: Pick<NewTask, 'id' | 'name' | 'queue' | 'exclusive' | 'shared' | 'parent'>;
}

/** What becomes of an unfinished task that has the key: it stays, or it is canceled if it waits. */
export type UniqueMode = 'keep' | 'replace';

/** The task that is there in place of one that was to be inserted, or that one itself where it waits no more. */
export interface TaskInstead {
  given: string;
  task: TaskRow;
}

export interface TaskRow {
  id: string;
  name: string;
  state: TaskState;
  queue: string;
  lane: string;
  payload: unknown;
  exclusive: string[];
  shared: string[];
  priority: number;
  place: string;
  entry: number;
  attempt: number;
  crashes: number;
  policies: Policies | null;
  fence: string | null;
  worker: Owner | null;
  parent: string | null;
  uniqueKey: string | null;
  readmitted: boolean;
  runAt: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  progress: unknown[];
  result: unknown;
  error: TaskError | null;
  /** How its latest attempts ended, at most 20, the oldest first. Empty where tasks are listed. */
  attempts: AttemptRecord[];
  /** Of a task that rolls back; else null. */
  rollback: StoredRollback | null;
}

export interface WaitEdges {
  id: string;
  entry: number;
  state: TaskState;
  exclusive: string[];
  shared: string[];
  /** Of an ad-hoc lock: the task whose handler asked for it. */
  parent: string | null;
  /** Whether it is an ad-hoc lock. */
  lock: boolean;
  /** The ad-hoc locks that wait and that its handler asked for. */
  requests: string[];
}

export interface TaskFilter {
  states?: TaskState[];
  name?: string;
  /** The id of the last task of the page before. */
  after: string | null;
  limit: number;
}

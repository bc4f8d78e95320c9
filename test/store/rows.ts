import type {
  Claim,
  InsertRunning,
  LockRequest,
  NewTask,
  Policies,
  Store,
  TaskEntry,
  TaskError,
  TaskRow,
} from '../../src/store/store.js';
import type { LostTaskOutcome } from '../../src/store/lost-workers.js';
import type { NewWorker } from '../../src/store/worker-row.js';
import { v7 } from 'uuid';
import { fenceText } from '../../src/fence.js';

export const somePolicies: Policies = {
  maxAttempts: 3,
  maxCrashes: 3,
  backoff: { initialMs: 1_000, maxMs: 60_000 },
  onWorkerLost: null,
  timeoutMs: null,
  rollbackTimeoutMs: null,
};

export function newTask(task: Partial<NewTask> = {}): NewTask {
  return {
    id: v7(),
    name: 'repo.sync',
    queue: 'default',
    payload: { repo: 7 },
    exclusive: ['repo:7'],
    shared: ['store'],
    priority: 0,
    needs: {},
    runAt: null,
    parent: null,
    uniqueKey: null,
    uniqueMode: 'keep',
    policies: null,
    ...task,
  };
}

export function newWorker(worker: Partial<NewWorker> = {}): NewWorker {
  return {
    name: 'w1',
    kind: 'worker',
    host: 'here',
    pid: 42,
    identity: { bootId: 'b' },
    ttlMs: 15_000,
    concurrency: 10,
    queues: ['default'],
    names: ['repo.sync'],
    versions: { ffmpeg: '6.1.0' },
    tableFormat: 1,
    ...worker,
  };
}

export async function insertOne(store: Store, task: Partial<NewTask> = {}): Promise<NewTask> {
  const row = newTask(task);
  await store.insertTasks([row]);
  return row;
}

export async function register(store: Store, worker: Partial<NewWorker> = {}): Promise<string> {
  const { incarnation } = await store.registerWorker(newWorker(worker));
  return incarnation;
}

let numbers = 0;

/** A held lock, or a task that its worker runs from the start; to be inserted by `worker` in `epoch`. */
export function insertOf(
  worker: string,
  epoch: string,
  { lock = false, ...task }: Partial<NewTask> & { lock?: boolean } = {},
): InsertRunning {
  numbers += 1;
  const fence = fenceText('1', String(1_000_000 + numbers));
  return { worker, epoch, number: numbers, fence, task: newTask(task), lock };
}

export function requestOf(requester: string, lock: Partial<NewTask> = {}): LockRequest {
  numbers += 1;
  const { id, name, queue, exclusive, shared, parent } = newTask(lock);
  return { requester, number: numbers, lock: { id, name, queue, exclusive, shared, parent } };
}

/** Commits an epoch, as a rebuild does. */
export async function openEpoch(store: Store, identity = 'server-1'): Promise<string> {
  return store.rebuild(async (rebuild) => {
    const epoch = await rebuild.drawEpoch(null);
    await rebuild.commitEpoch({ epoch, identity });
    return epoch;
  });
}

let fences = 0;

export function claimOf(task: string, entry = 1): Claim {
  fences += 1;
  return { task, entry, fence: fenceText('1', String(fences)) };
}

/** Claims one task that must be claimable. */
export async function claimOne(store: Store, worker: string, { task, entry }: TaskEntry): Promise<TaskRow> {
  const { epoch } = await store.readNamespace();
  const outcome = await store.claimTasks({ worker, epoch: epoch ?? '', claims: [claimOf(task, entry)] });
  const [row] = outcome.status === 'claimed' ? outcome.claimed : [];
  if (row === undefined) throw new Error(`The claim was answered ${JSON.stringify(outcome)}.`);
  return row;
}

export async function mustGet(store: Store, id: string): Promise<TaskRow> {
  const row = await store.getTask(id);
  if (row === null) throw new Error(`There is no task ${id}.`);
  return row;
}

/** A task that a new worker runs. */
export async function runningTask(
  store: Store,
  task: Partial<NewTask> = {},
): Promise<{ id: string; worker: string; epoch: string; row: TaskRow }> {
  const { epoch } = await store.readNamespace();
  const open = epoch ?? (await openEpoch(store));
  const worker = await register(store);
  const { id } = await insertOne(store, task);
  const row = await claimOne(store, worker, { task: id, entry: 1 });
  return { id, worker, epoch: open, row };
}

export const withRollback: Policies = { ...somePolicies, rollbackTimeoutMs: 60_000 };

/** A task whose attempt has ended so, and that nobody has begun to roll back. */
export async function rollingBack(
  store: Store,
  end: { state: 'failed'; error: TaskError } | { state: 'retry'; error: TaskError; delayMs: number },
): Promise<{ id: string; row: TaskRow }> {
  const { id, worker, row } = await runningTask(store, { policies: withRollback });
  await store.writeProgress(worker, [{ task: id, entry: 1, progress: [1] }]);
  await store.finishTasks(worker, [{ task: id, entry: 1, ...end, rollBack: true }]);
  return { id, row };
}

/** Settles one task of a lost worker. */
export async function settleLost(
  store: Pick<Store, 'settleLostTasks'>,
  worker: string,
  task: TaskEntry,
): Promise<LostTaskOutcome> {
  const [outcome] = await store.settleLostTasks(worker, [task]);
  if (outcome === undefined) throw new Error('There is an outcome for each.');
  return outcome;
}

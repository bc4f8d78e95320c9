import { resourceLockKey, taskLockKey, taskOfKey } from './keys.js';
import { isOnline } from './liveness.js';
import { releaseRegistered } from './lock-pages.js';
import type { Pulp } from './open-pulp.js';
import type { PulpTask } from './pulp-database.js';

/** A lock under the name of a live process that is not that process's. */
export interface PredecessorLock {
  key: string;
  /** The task that it was taken for, and its state. */
  task: string;
  state: string;
  /** The row of the process that took the task; null where that row is gone, or the task is over. */
  process: string | null;
  /** `predecessor`: an earlier process of that name took the task. `over`: the task is, and left its lock. */
  why: 'predecessor' | 'over';
}

type Whose = PredecessorLock['why'] | 'current';

/**
 * The locks that a live name holds and its present process does not account for. A row of `core_appstatus` is one
 * life of a process, and a task names the row whose process took it, so the tasks tell apart what the locks do not.
 * The present process is the one that was heard of last. A resource counts as the predecessor's only where no task
 * needs it that the present process has, or is just about to take.
 */
export async function findPredecessorLocks(pulp: Pulp, owner: string): Promise<PredecessorLock[]> {
  const processes = (await pulp.database.processes(owner)).map((row) => ({ ...row, online: isOnline(row) }));
  const [current] = processes;
  if (current === undefined || !current.online) return [];
  const held = await locksHeldBy(pulp, owner);
  const ids = held.map(taskOfKey).filter((id) => id !== null);
  const tasks = await pulp.database.tasks(
    ids,
    processes.map(({ id }) => id),
  );
  const tasksOf = tasksByLock(tasks);
  return held.flatMap((key) => {
    const task = firstToBlame(tasksOf.get(key) ?? [], current.id);
    return task === null ? [] : [{ key, ...task }];
  });
}

async function locksHeldBy(pulp: Pulp, owner: string): Promise<string[]> {
  const held: string[] = [];
  for await (const findings of releaseRegistered({ ...pulp, mode: 'look' }, owner)) {
    for (const { key, finding } of findings) if (finding === 'held') held.push(key);
  }
  return held.sort();
}

/** The tasks that account for each lock. */
function tasksByLock(tasks: PulpTask[]): Map<string, PulpTask[]> {
  const byLock = new Map<string, PulpTask[]>();
  for (const task of tasks) {
    const resources = task.resources.map((name) => resourceLockKey(name.replace(/^shared:/, '')));
    for (const key of new Set([taskLockKey(task.id), ...resources])) {
      byLock.set(key, [...(byLock.get(key) ?? []), task]);
    }
  }
  return byLock;
}

/** The task that left a lock behind; null where nothing is known of it, or the present process needs it. */
function firstToBlame(tasks: PulpTask[], current: string): Omit<PredecessorLock, 'key'> | null {
  const judged = tasks.map((task) => ({ task, whose: whoseTask(task, current) }));
  if (judged.some(({ whose }) => whose === 'current')) return null;
  const found = judged.find(({ whose }) => whose === 'predecessor') ?? judged[0];
  if (found === undefined || found.whose === 'current') return null;
  const { id, state, process } = found.task;
  return { task: id, state, process, why: found.whose };
}

/** A task that still waits and that nobody has taken is about to be: its locks come first. */
function whoseTask({ state, process }: PulpTask, current: string): Whose {
  if (!unfinishedStates.has(state)) return 'over';
  if (process === current || (process === null && state === 'waiting')) return 'current';
  return 'predecessor';
}

const unfinishedStates: ReadonlySet<string> = new Set(['waiting', 'running', 'canceling']);

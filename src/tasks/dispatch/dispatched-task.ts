import type { NewTask, TaskInstead } from '../../store/store.js';
import type { Task } from '../task.js';
import type { DispatchedTask } from './dispatch-signature.js';
import { taskOf } from '../task.js';

/** The tasks as they are right after their insert: those that are there instead of one, in its stead. */
export function dispatchedTasks(
  prepared: readonly { task: NewTask }[],
  instead: readonly TaskInstead[],
): DispatchedTask[] {
  const others = new Map(instead.map(({ given, task }) => [given, task]));
  return prepared.map(({ task }) => {
    const other = others.get(task.id);
    return other === undefined ? dispatchedTask(task) : withoutCreatedAt(taskOf(other));
  });
}

function withoutCreatedAt({ createdAt: _, ...task }: Task): DispatchedTask {
  return task;
}

/** What is known of a task without reading it back. */
function dispatchedTask(task: NewTask): DispatchedTask {
  return {
    id: task.id,
    name: task.name,
    state: 'waiting',
    queue: task.queue,
    payload: task.payload,
    exclusive: task.exclusive,
    shared: task.shared,
    priority: task.priority,
    entry: 1,
    attempt: 0,
    maxAttempts: task.policies?.maxAttempts ?? null,
    crashes: 0,
    fence: null,
    worker: null,
    group: null,
    parent: task.parent,
    uniqueKey: task.uniqueKey,
    runAt: task.runAt,
    startedAt: null,
    finishedAt: null,
    progress: [],
    result: null,
    error: null,
    attempts: [],
    rollback: null,
  };
}

import type { NewTask } from '../../store/store.js';
import type { DispatchedTask } from './dispatch-signature.js';

/** What is known of a task right after its insert, without reading it back. */
export function dispatchedTask(task: NewTask): DispatchedTask {
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

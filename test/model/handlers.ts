import type { Task } from '../../src/tasks/task.js';
import type { CalledHandler, LocalProcess } from './local-process.js';

/** A handler that runs until the explorer has it end. */
export function handlerOf(
  process: LocalProcess,
  kind: CalledHandler['kind'],
  { id: task, entry }: Task,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    process.callHandler({ kind, task, entry }, signal, (how) => {
      if (how === 'completes') resolve();
      else reject(new Error(how));
    });
  });
}

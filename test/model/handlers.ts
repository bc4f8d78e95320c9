import type { Task } from '../../src/tasks/task.js';
import type { ModelProcess, RunningHandler } from './process.js';
import type { World } from './world.js';

/** A handler that runs until the explorer has it end. */
export function handlerOf(
  world: World,
  process: ModelProcess,
  kind: RunningHandler['kind'],
  { id: task, entry }: Task,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const handler: RunningHandler = {
      ...{ process, kind, task, entry, signal },
      end: (how) => {
        process.handlers = process.handlers.filter((one) => one !== handler);
        world.ghosts.handlerEnds(handler);
        if (how === 'completes') resolve();
        else reject(new Error(how));
      },
    };
    process.handlers.push(handler);
    world.ghosts.handlerBegins(handler);
    // A fence stops the code itself: children are killed, and inline code is not gone on with.
    signal.addEventListener('abort', () => {
      if (process.status === 'fenced') handler.end('is stopped');
    });
  });
}

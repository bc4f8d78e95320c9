import type { RunningHandler } from '../../handler-context.js';
import type { Task } from '../task.js';
import type { WaitGraphPorts } from './wait-graph.js';
import { noteWait } from '../../handler-context.js';
import { refuseDeadlock } from './deadlock-watch.js';

/**
 * Waits for a task in a handler, whose slot is lent to other tasks meanwhile. Throws WouldDeadlock where the task cannot
 * end before the handler does.
 */
export async function waitInHandler(
  ports: WaitGraphPorts,
  handler: RunningHandler,
  id: string,
  wait: (over: AbortSignal) => Promise<Task>,
): Promise<Task> {
  const takeBack = handler.lendSlot();
  const waitIsOver = noteWait(handler.task, id);
  const over = new AbortController();
  const refused = refuseDeadlock(ports, { waiter: id, asker: handler.task }, over.signal);
  try {
    return await Promise.race([wait(over.signal), rejectionOf(refused)]);
  } finally {
    over.abort(new Error('The wait is over.'));
    waitIsOver();
    takeBack();
  }
}

async function rejectionOf(work: Promise<void>): Promise<never> {
  await work;
  return new Promise<never>(() => {});
}

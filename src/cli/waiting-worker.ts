import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import { InvalidTask } from '../errors.js';

/** Throws InvalidTask where a wait could never end: embedded, nobody but this process runs tasks. */
export function checkWaitCanEnd(
  { embedded }: GlobalOptions,
  flags: { wait?: boolean; tasks?: string[] },
): void {
  if (embedded !== true || flags.wait !== true || flags.tasks !== undefined) return;
  throw new InvalidTask(
    'Embedded, --wait runs the task in this process: give --tasks, the file that defines it.',
  );
}

/** Does `work` while a worker runs here, where nobody else could run what is waited for. */
export async function withWorkerWhereNeeded(
  hf: Holdfast,
  { embedded }: GlobalOptions,
  taskFiles: string[],
  work: () => Promise<void>,
): Promise<void> {
  if (embedded !== true) return await work();
  const worker = hf.createWorker({ taskFiles });
  const running = worker.run();
  try {
    await Promise.race([work(), running]);
  } finally {
    await worker.stop();
    await running;
  }
}

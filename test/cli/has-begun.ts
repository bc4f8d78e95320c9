import type { Holdfast, Task } from '../../src/index.js';
import { waitUntil } from '../helpers/wait-until.js';

/** The task, once its handler has said by its progress that it runs: a task that was only claimed has not begun. */
export async function hasBegun(hf: Holdfast, id: string): Promise<Task> {
  const begun = async (): Promise<Task | null> => {
    const task = await hf.tasks.get(id);
    return task.progress.length > 0 ? task : null;
  };
  return waitUntil(begun, `the handler of ${id} has begun`, 30_000);
}

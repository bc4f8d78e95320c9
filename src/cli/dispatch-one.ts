import type { GlobalOptions } from './global-options.js';
import type { DispatchFlags } from './dispatch-command.js';
import { withWorkerWhereNeeded } from './waiting-worker.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { waitForOne } from './wait-for-tasks.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

/** `holdfast dispatch NAME`: prints the id, or with --wait what became of the task. */
export async function dispatchOne(name: string, flags: DispatchFlags, global: GlobalOptions): Promise<void> {
  const { payload, tasks: files, wait, batch, ...options } = flags;
  const tasks = await loadTaskFiles(files ?? []);
  await withHoldfast(global, { tasks }, async (hf) => {
    const task = await hf.dispatch(name, payload, options);
    if (wait === true) {
      return await withWorkerWhereNeeded(hf, global, files ?? [], async () => {
        await waitForOne(hf, task.id, global.json === true);
      });
    }
    // It is dispatched, whether or not it can be read back.
    if (global.json === true) await writeJson(await hf.tasks.get(task.id).catch(() => task));
    else await writeResult(`${task.id}\n`);
  });
}

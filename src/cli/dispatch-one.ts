import type { Command } from 'commander';
import type { Holdfast } from '../holdfast.js';
import type { DispatchFlags } from './dispatch-command.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { waitForOne } from './wait-for-tasks.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

/** `holdfast dispatch NAME`: prints the id, or with --wait what became of the task. */
export async function dispatchOne(name: string, flags: DispatchFlags, command: Command): Promise<void> {
  const { payload, tasks: files, wait, batch, ...options } = flags;
  const tasks = await loadTaskFiles(files ?? []);
  await withHoldfast(command, { tasks }, async (hf, { json }) => {
    const task = await hf.dispatch(name, payload, options);
    if (wait === true) return await waitForOne(hf, task.id, json === true);
    if (json === true) await writeJson(await hf.tasks.get(task.id));
    else await writeResult(`${task.id}\n`);
  });
}

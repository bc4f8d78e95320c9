import { setTimeout as delay } from 'node:timers/promises';
import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import type { DispatchFlags } from './dispatch-command.js';
import type { TaskDefinition } from '../tasks/definition.js';
import { UnknownTask } from '../errors.js';
import { withWorkerWhereNeeded } from './waiting-worker.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { waitForOne } from './wait-for-tasks.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

/** `holdfast dispatch NAME`: prints the id, or with --wait what became of the task. */
export async function dispatchOne(name: string, flags: DispatchFlags, global: GlobalOptions): Promise<void> {
  const { payload, tasks: files, wait, batch, ...options } = flags;
  const tasks = await loadTaskFiles(files ?? []);
  if (files !== undefined) refuseUnknownName(name, tasks);
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
    if (flags.immediate === true) await untilItRunsNoMore(hf, task.id);
  });
}

/** The library takes a name that others may define; whoever names the files expects to find it there. */
function refuseUnknownName(name: string, tasks: TaskDefinition[]): void {
  if (tasks.some((task) => task.name === name)) return;
  const known = tasks.map((task) => JSON.stringify(task.name)).join(', ');
  throw new UnknownTask(`The files given with --tasks define no ${JSON.stringify(name)}, but ${known}.`);
}

const pollMs = 100;

/** However long it takes: closing would end it after a grace. A retry is for workers. */
async function untilItRunsNoMore(hf: Holdfast, id: string): Promise<void> {
  while (['running', 'canceling'].includes((await hf.tasks.get(id)).state)) await delay(pollMs);
}

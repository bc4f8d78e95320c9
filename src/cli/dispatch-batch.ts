import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import type { DispatchFlags } from './dispatch-command.js';
import type { CheckedBatch } from './read-batch.js';
import { Unavailable } from '../errors.js';
import { withWorkerWhereNeeded } from './waiting-worker.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { readBatch } from './read-batch.js';
import { waitForAll } from './wait-for-tasks.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

const tasksPerTransaction = 1_000;

/** `holdfast dispatch --batch`: checks all lines, then dispatches them in order, a chunk a transaction. */
export async function dispatchBatch(
  file: string,
  flags: DispatchFlags,
  global: GlobalOptions,
): Promise<void> {
  const tasks = await loadTaskFiles(flags.tasks ?? []);
  await using batch = await readBatch(file, new Map(tasks.map((task) => [task.name, task])));
  await withHoldfast(global, { tasks }, async (hf) => {
    const ids = await dispatchChunks(hf, batch);
    if (flags.wait === true) {
      return await withWorkerWhereNeeded(hf, global, flags.tasks ?? [], async () => {
        await waitForAll(hf, ids, global.json === true);
      });
    }
    if (global.json === true) await writeJson({ dispatched: ids.length, ids });
    else await writeResult(`Dispatched ${ids.length} ${ids.length === 1 ? 'task' : 'tasks'}.\n`);
  });
}

async function dispatchChunks(hf: Holdfast, batch: CheckedBatch): Promise<string[]> {
  const ids: string[] = [];
  for await (const { tasks, firstLine, lastLine } of batch.chunks(tasksPerTransaction)) {
    try {
      for (const { id } of await hf.dispatchMany(tasks)) ids.push(id);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      throw new Unavailable(`${error.message} ${progressText(ids.length, firstLine, lastLine)}`, {
        cause: error,
      });
    }
  }
  return ids;
}

/** What to do with a batch that an outage cut short. */
function progressText(dispatched: number, firstLine: number, lastLine: number): string {
  return (
    `${dispatched} tasks, all before line ${firstLine}, are dispatched; lines ${firstLine} to ${lastLine} are ` +
    'dispatched together or not at all (`holdfast tasks list` tells which); those after them are not.'
  );
}

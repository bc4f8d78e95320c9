import type { Holdfast } from '../holdfast.js';
import type { Task } from '../tasks/task.js';
import { exitStatus } from './exit-status.js';
import { taskText } from './task-text.js';
import { writeJson, writeResult } from './write-output.js';

/** Each wait reads its task twice; more of them at once would only queue for connections. */
const waitsAtOnce = 100;

/** Waits for the task, prints it, and has the process exit 1 unless it completed. */
export async function waitForOne(hf: Holdfast, id: string, json: boolean): Promise<void> {
  const task = await hf.wait(id);
  if (json) await writeJson(task);
  else await writeResult(taskText(task));
  if (task.state !== 'completed') process.exitCode = exitStatus.badNews;
}

/** Waits for all of the tasks, prints how many ended how, and has the process exit 1 unless all completed. */
export async function waitForAll(hf: Holdfast, ids: string[], json: boolean): Promise<void> {
  const ended = new Map<Task['state'], number>();
  for (let start = 0; start < ids.length; start += waitsAtOnce) {
    const waits = ids.slice(start, start + waitsAtOnce).map((id) => hf.wait(id));
    for (const { state } of await Promise.all(waits)) ended.set(state, (ended.get(state) ?? 0) + 1);
  }
  const counts = Object.fromEntries(ended);
  if (json) await writeJson({ dispatched: ids.length, ids, states: counts });
  else
    await writeResult(
      Object.entries(counts)
        .map(([state, count]) => `${count} ${state}\n`)
        .join(''),
    );
  if (ids.length !== (ended.get('completed') ?? 0)) process.exitCode = exitStatus.badNews;
}

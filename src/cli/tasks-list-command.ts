import { Command } from 'commander';
import type { TaskSummary } from '../tasks/reading/list-tasks.js';
import type { PageOptions } from './paging.js';
import type { TaskState } from '../store/task-state.js';
import { collect } from './option-parsers.js';
import { onInvocation } from './invocation.js';
import { addPageOptions, noteNextPage } from './paging.js';
import { textTable } from './text-table.js';
import { ownerName, timeText, tookText } from './texts.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

interface Options extends PageOptions {
  state?: TaskState[];
  name?: string;
}

export function tasksListCommand(): Command {
  const command = new Command('list')
    .description('the tasks, newest first')
    .option('--state <state>', 'only in this state; may be given several times', collect)
    .option('--name <name>', 'only those of this name');
  return onInvocation<Options>(addPageOptions(command), async ({ flags, global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const page = await hf.tasks.list(flags);
      if (global.json === true) return await writeJson(page);
      await writeResult(page.tasks.length === 0 ? 'No tasks.\n' : table(page.tasks));
      await noteNextPage(page.next);
    });
  });
}

function table(tasks: TaskSummary[]): string {
  return textTable(
    [
      { heading: 'ID' },
      { heading: 'NAME' },
      { heading: 'STATE' },
      { heading: 'ATTEMPT', align: 'right' },
      { heading: 'CREATED' },
      { heading: 'TOOK', align: 'right' },
      { heading: 'WORKER' },
    ],
    tasks.map((task) => [
      task.id,
      task.name,
      task.state,
      attemptText(task),
      timeText(task.createdAt),
      tookText(task),
      ownerName(task.worker),
    ]),
  );
}

function attemptText({ attempt, maxAttempts }: TaskSummary): string {
  return maxAttempts === null ? String(attempt) : `${attempt}/${maxAttempts}`;
}

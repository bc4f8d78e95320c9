import { Command } from 'commander';
import { onInvocation } from './invocation.js';
import { taskText } from './task-text.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function tasksShowCommand(): Command {
  const command = new Command('show')
    .description('one task with all that is known of it')
    .argument('<id>', 'the id of the task');
  return onInvocation(command, async ({ args: [id = ''], global }) => {
    await withHoldfast(global, {}, async (hf) => {
      const task = await hf.tasks.get(id);
      if (global.json === true) await writeJson(task);
      else await writeResult(taskText(task));
    });
  });
}

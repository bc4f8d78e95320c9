import { Command } from 'commander';
import { taskText } from './task-text.js';
import { withHoldfast } from './with-holdfast.js';
import { writeJson, writeResult } from './write-output.js';

export function tasksShowCommand(): Command {
  return new Command('show')
    .description('one task with all that is known of it')
    .argument('<id>', 'the id of the task')
    .action(async (id: string, _options: unknown, command: Command) => {
      await withHoldfast(command, {}, async (hf, { json }) => {
        const task = await hf.tasks.get(id);
        if (json === true) await writeJson(task);
        else await writeResult(taskText(task));
      });
    });
}

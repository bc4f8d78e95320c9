import { Command } from 'commander';
import { tasksCancelCommand } from './tasks-cancel-command.js';
import { tasksListCommand } from './tasks-list-command.js';
import { tasksRetryCommand } from './tasks-retry-command.js';
import { tasksShowCommand } from './tasks-show-command.js';

export function tasksCommand(): Command {
  return new Command('tasks')
    .description('the tasks')
    .addCommand(tasksListCommand())
    .addCommand(tasksShowCommand())
    .addCommand(tasksCancelCommand())
    .addCommand(tasksRetryCommand());
}

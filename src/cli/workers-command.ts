import { Command } from 'commander';
import { workersListCommand } from './workers-list-command.js';

export function workersCommand(): Command {
  return new Command('workers').description('the workers').addCommand(workersListCommand());
}

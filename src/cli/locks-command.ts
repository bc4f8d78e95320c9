import { Command } from 'commander';
import { locksListCommand } from './locks-list-command.js';
import { locksOwnersCommand } from './locks-owners-command.js';

export function locksCommand(): Command {
  return new Command('locks')
    .description('who holds and who waits')
    .addCommand(locksListCommand())
    .addCommand(locksOwnersCommand());
}

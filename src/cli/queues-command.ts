import { Command } from 'commander';
import { queuesListCommand } from './queues-list-command.js';
import { queuesPauseCommand, queuesResumeCommand } from './queues-pause-command.js';

export function queuesCommand(): Command {
  return new Command('queues')
    .description('pause queues, and resume them')
    .addCommand(queuesListCommand())
    .addCommand(queuesPauseCommand())
    .addCommand(queuesResumeCommand());
}

import { Command } from 'commander';
import { pulpCleanCommand } from './pulp-clean-command.js';
import { pulpInspectCommand } from './pulp-inspect-command.js';

export function pulpCommand(): Command {
  return new Command('pulp')
    .description("pulpcore's locks in Redis: who holds them, and release what the dead have left")
    .addCommand(pulpInspectCommand())
    .addCommand(pulpCleanCommand());
}

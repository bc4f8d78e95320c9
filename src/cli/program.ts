import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { demoCommand } from './demo-command.js';
import { doctorCommand } from './doctor-command.js';
import { dispatchCommand } from './dispatch-command.js';
import { addGlobalOptions } from './global-options.js';
import { locksCommand } from './locks-command.js';
import { migrateCommand } from './migrate-command.js';
import { pulpCommand } from './pulp-command.js';
import { queuesCommand } from './queues-command.js';
import { serveCommand } from './serve-command.js';
import { tasksCommand } from './tasks-command.js';
import { workerCommand } from './worker-command.js';
import { workersCommand } from './workers-command.js';

const exitStatuses = `
Exit status:
  0  done
  1  the answer is bad news, such as a task that was waited for and failed
  2  wrong usage
  3  a service cannot be reached
`;

/** The command line: every command with its options, and nothing run yet. */
export function createProgram(): Command {
  const program = new Command('holdfast')
    .description('Runs tasks that must not collide, durable in PostgreSQL, locked in Redis.')
    .version(packageVersion(), '--version', 'print the version')
    .addHelpText('after', exitStatuses)
    .showHelpAfterError('(add --help for what this command takes)');
  for (const command of commands()) program.addCommand(command);
  addGlobalOptions(program);
  prepare(program);
  return program;
}

function commands(): Command[] {
  return [
    demoCommand(),
    migrateCommand(),
    workerCommand(),
    serveCommand(),
    dispatchCommand(),
    tasksCommand(),
    queuesCommand(),
    locksCommand(),
    workersCommand(),
    pulpCommand(),
    doctorCommand(),
  ];
}

/** Options belong to the command they follow: `worker --version sharp=1` is no `holdfast --version`. */
function prepare(command: Command): void {
  command.enablePositionalOptions().exitOverride();
  for (const subcommand of command.commands) prepare(subcommand.copyInheritedSettings(command));
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

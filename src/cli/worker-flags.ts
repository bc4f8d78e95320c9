import type { Command } from 'commander';
import { Option } from 'commander';
import type { Isolation } from '../tasks/definition.js';
import { collect, integer } from './option-parsers.js';

/** How the command line says what a worker is like. */
export interface WorkerFlags {
  tasks: string[];
  name?: string;
  concurrency?: number;
  ttl?: string;
  grace?: string;
  queue?: string[];
  version?: string[];
  isolation?: Isolation;
  soleName?: boolean;
}

export function addWorkerFlags(command: Command): Command {
  return command
    .requiredOption('--tasks <file...>', 'what defines the tasks: JavaScript files, or folders of them')
    .option('--name <name>', 'default: HOLDFAST_WORKER_NAME, or the host name')
    .option('--concurrency <n>', 'how many tasks at once (default 10)', integer('--concurrency', 1, 10_000))
    .option('--ttl <duration>', 'declared dead after so long without a heartbeat (default 15s)')
    .option('--grace <duration>', 'how long tasks may take to finish when it is stopped (default 30s)')
    .option('--queue <name>', 'a queue to serve; may be given several times (default: default)', collect)
    .option('--version <library=version>', 'what it offers to tasks that need it; several times', collect)
    .addOption(
      new Option('--isolation <where>', 'where handlers run that do not say').choices(['inline', 'child']),
    )
    .option('--sole-name', 'no other worker ever has this name: whoever had it before is dead');
}

/** The arguments of `holdfast worker` that say the same. */
export function argumentsOf(flags: WorkerFlags): string[] {
  return Object.entries(flags).flatMap(([key, value]: [string, unknown]) => {
    const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) return [flag];
    const values: unknown[] = Array.isArray(value) ? value : [value];
    // In one word, so that no value is taken for a flag.
    return values.map((each) => `${flag}=${String(each)}`);
  });
}

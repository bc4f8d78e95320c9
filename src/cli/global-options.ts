import type { Command } from 'commander';
import { Option } from 'commander';

/** Options that every command takes, before or after its name. Those given override the environment. */
export interface GlobalOptions {
  databaseUrl?: string;
  redisUrl?: string;
  namespace?: string;
  embedded?: boolean;
  dataDir?: string;
  json?: boolean;
  verbose?: boolean;
}

/** Adds the global options to the command and to all commands below it. */
export function addGlobalOptions(command: Command): void {
  for (const option of globalOptions()) command.addOption(option.helpGroup('Global options:'));
  for (const subcommand of command.commands) addGlobalOptions(subcommand);
}

/** The global options of a command line, wherever in it they were given. */
export function globalOptionsOf(command: Command): GlobalOptions {
  const above = command.parent === null ? {} : globalOptionsOf(command.parent);
  const given = Object.entries(command.opts()).filter(([name]) => isGlobalOption(name));
  return { ...above, ...Object.fromEntries(given) };
}

export function isGlobalOption(name: string): boolean {
  return names.has(name);
}

function globalOptions(): Option[] {
  return [
    new Option('--database-url <url>', 'PostgreSQL (HOLDFAST_DATABASE_URL)'),
    new Option('--redis-url <url>', 'Redis, or memory: (HOLDFAST_REDIS_URL)'),
    new Option('--namespace <name>', 'schema and key prefix (HOLDFAST_NAMESPACE, default holdfast)'),
    new Option('--embedded', 'no servers: PostgreSQL and the lock table in this process'),
    new Option('--data-dir <folder>', 'where embedded data lies (HOLDFAST_DATA_DIR, default .holdfast)'),
    new Option('--json', 'print one JSON document'),
    new Option('--verbose', 'log more, and show the stack of an error'),
  ];
}

const names: ReadonlySet<string> = new Set(globalOptions().map((option) => option.attributeName()));

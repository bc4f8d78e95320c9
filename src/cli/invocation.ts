import type { Command } from 'commander';
import type { GlobalOptions } from './global-options.js';
import { globalOptionsOf, isGlobalOption } from './global-options.js';

/** What one command line asks of a command. */
export interface Invocation<Flags> {
  args: string[];
  /** The options that are the command's own. */
  flags: Flags;
  global: GlobalOptions;
}

/** Has `run` do what the command is for. */
export function onInvocation<Flags extends object>(
  command: Command,
  run: (invocation: Invocation<Flags>) => Promise<void>,
): Command {
  return command.action(async () => {
    const own = Object.entries(command.opts()).filter(([name]) => !isGlobalOption(name));
    await run({
      args: command.args,
      flags: Object.fromEntries(own) as Flags,
      global: globalOptionsOf(command),
    });
  });
}

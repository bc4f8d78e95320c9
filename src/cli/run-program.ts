import type { Command } from 'commander';
import { CommanderError } from 'commander';
import type { ExitStatus } from './exit-status.js';
import { exitStatus, exitStatusOf } from './exit-status.js';
import { failureText } from './failure-text.js';
import { writeNote } from './write-output.js';

/** Runs the command that `argv` names and returns the exit status of the process. Never throws. */
export async function runProgram(program: Command, argv: string[]): Promise<ExitStatus> {
  try {
    await program.parseAsync(argv);
    return process.exitCode === exitStatus.badNews ? exitStatus.badNews : exitStatus.done;
  } catch (error) {
    // Commander has told about these already.
    if (!(error instanceof CommanderError)) {
      await writeNote(failureText(error, argv.includes('--verbose')));
    }
    return exitStatusOf(error);
  }
}

import type { ErrorCode } from '../errors.js';
import { HoldfastError } from '../errors.js';

/** What to do about an error, where its message does not say it in terms of this command line. */
const remedies: Partial<Record<ErrorCode, string>> = {
  WrongTable: 'Configure the same Redis in every process, or take another namespace with --namespace.',
  Unavailable:
    'Check that the server runs and that its URL, network and credentials are right; then try again.',
  DataDirLocked: 'Stop the other process, or give another folder with --data-dir.',
  NotFound: '`holdfast tasks list` shows the tasks that exist.',
  UnknownTask: 'Give the file that defines it with --tasks.',
};

/** The error as the terminal shows it: `code: message` and what to do, with the stack only when `verbose`. */
export function failureText(error: unknown, verbose: boolean): string {
  const lines = [headline(error)];
  const remedy = error instanceof HoldfastError ? remedies[error.code] : undefined;
  if (remedy !== undefined) lines.push(remedy);
  if (verbose && error instanceof Error) lines.push(stacks(error));
  return `${lines.join('\n')}\n`;
}

function headline(error: unknown): string {
  if (error instanceof HoldfastError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? `Error: ${error.message}` : `Error: ${String(error)}`;
}

/** The stack of the error and of each error that caused it. */
function stacks(error: Error): string {
  const stack = error.stack ?? String(error);
  return error.cause instanceof Error ? `${stack}\ncaused by ${stacks(error.cause)}` : stack;
}

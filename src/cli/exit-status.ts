import { CommanderError } from 'commander';
import type { ErrorCode } from '../errors.js';
import { HoldfastError } from '../errors.js';

/** What the exit status of every command means. */
export const exitStatus = {
  done: 0,
  /** The answer is bad news: a task that was waited for failed, a demo did not verify. */
  badNews: 1,
  wrongUsage: 2,
  /** A service cannot be reached. */
  unreachable: 3,
} as const;

export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

const usageCodes: readonly ErrorCode[] = ['NotConfigured', 'InvalidTask', 'UnknownTask', 'PayloadTooLarge'];

/** The exit status of a command that ended with `error`. */
export function exitStatusOf(error: unknown): ExitStatus {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitStatus.done : exitStatus.wrongUsage;
  }
  if (!(error instanceof HoldfastError)) return exitStatus.badNews;
  if (error.code === 'Unavailable') return exitStatus.unreachable;
  return usageCodes.includes(error.code) ? exitStatus.wrongUsage : exitStatus.badNews;
}

import type { Finish, FinishOfAttempt, FinishOfRollback } from '../store/finish.js';
import type { Policies, TaskEntry, TaskRow } from '../store/store.js';
import type { AfterGiveBack } from './giving-back.js';
import type { HandlerEnd } from './handler-end.js';
import { backoffMs } from './backoff.js';

/**
 * How an attempt ended. `readmitted`: its row waits with a later entry and needs more resources, so its hold goes.
 * `not-run` and `stopped`: the task is given back as if it had not been claimed; in the second case somebody asked for
 * its end, and where its handler had begun it is rolled back before. `fenced`: nothing may be said about it any more.
 */
export type AttemptEnd =
  | { end: 'finished'; finish: Finish }
  | { end: 'readmitted' }
  | { end: 'not-run'; after: AfterGiveBack }
  | { end: 'stopped'; after: AfterGiveBack; rollBack: boolean }
  | { end: 'fenced' };

/**
 * The finish of an attempt: a failed one is retried while attempts are left, unless that is pointless, or it has crashed
 * too often.
 */
export function finishOf(
  { task, entry }: TaskEntry,
  { attempt, crashes }: Pick<TaskRow, 'attempt' | 'crashes'>,
  policies: Policies,
  end: HandlerEnd,
  random: () => number = Math.random,
): FinishOfAttempt {
  if (end.end === 'completed') return { task, entry, state: 'completed', result: end.result };
  const { error, unretryable, crashed = false } = end;
  const hold = { task, entry, ...(crashed && { crashed }) };
  if (crashed && crashes + 1 >= policies.maxCrashes) {
    return { ...hold, state: 'failed', error: { ...error, reason: 'crashed' } };
  }
  if (unretryable || attempt >= policies.maxAttempts) return { ...hold, state: 'failed', error };
  return { ...hold, state: 'retry', error, delayMs: backoffMs(policies.backoff, attempt, random) };
}

export function isRollback(finish: Finish): finish is FinishOfRollback {
  return finish.state.startsWith('roll');
}

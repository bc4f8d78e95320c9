import type { Finish, FinishOfAttempt, FinishOfRollback } from '../store/finish.js';
import type { Policies, TaskEntry } from '../store/store.js';
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

/** The finish of an attempt: a failed one is retried while attempts are left, unless that is pointless. */
export function finishOf(
  { task, entry }: TaskEntry,
  attempt: number,
  policies: Policies,
  end: HandlerEnd,
  random: () => number = Math.random,
): FinishOfAttempt {
  if (end.end === 'completed') return { task, entry, state: 'completed', result: end.result };
  const { error } = end;
  if (end.unretryable || attempt >= policies.maxAttempts) return { task, entry, state: 'failed', error };
  return { task, entry, state: 'retry', error, delayMs: backoffMs(policies.backoff, attempt, random) };
}

export function isRollback(finish: Finish): finish is FinishOfRollback {
  return finish.state.startsWith('roll');
}

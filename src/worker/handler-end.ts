import type { TaskError } from '../store/store.js';
import type { ChildError, ChildOutcome } from './child-pool.js';
import { isUnretryable } from '../tasks/unretryable.js';
import { plainError, plainValue } from './plain-outcome.js';

/**
 * How a handler ended. `unretryable`: the same would happen again. `crashed`: its process died by a signal that nobody
 * here sent.
 */
export type HandlerEnd =
  | { end: 'completed'; result: unknown }
  | { end: 'failed'; error: TaskError; unretryable: boolean; crashed?: boolean };

export function completedWith(result: unknown): HandlerEnd {
  const plain = plainValue(result, 'The result');
  if (plain.plain) return { end: 'completed', result: plain.value };
  return { end: 'failed', error: plain.error, unretryable: true };
}

export function threw(thrown: unknown): HandlerEnd {
  return { end: 'failed', error: plainError(thrown), unretryable: isUnretryable(thrown) };
}

/** Whatever the handler made of its aborted signal: an attempt that took too long has failed. */
export function timedOut(limitMs: number): HandlerEnd {
  const message = `The attempt took longer than its ${limitMs} ms.`;
  return { end: 'failed', error: { code: 'Timeout', message, reason: 'timeout' }, unretryable: false };
}

type ChildDied = Extract<ChildOutcome, { status: 'died' }>;

/** null where the handler never began. */
export function childEnd(outcome: ChildOutcome): HandlerEnd | null {
  if (outcome.status === 'not-started') return null;
  if (outcome.status === 'completed') return completedWith(outcome.result);
  if (outcome.status === 'failed') return childThrew(outcome.error);
  return childDied(outcome);
}

function childThrew(error: ChildError): HandlerEnd {
  return { end: 'failed', error: plainError(error), unretryable: error.unretryable === true };
}

function childDied({ exitCode, signal, sentByUs }: ChildDied): HandlerEnd {
  const how = signal === null ? `exited with ${exitCode}` : `was ended by ${signal}`;
  const message = `The child process ${how} in the middle of the attempt.`;
  const error = { code: 'ChildDied', message, reason: 'child-died' };
  return { end: 'failed', error, unretryable: false, crashed: signal !== null && !sentByUs };
}

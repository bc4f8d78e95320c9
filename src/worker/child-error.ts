import { inspect } from 'node:util';
import { InvalidTask, PayloadTooLarge, UnknownTask } from '../errors.js';
import { isUnretryable } from '../tasks/unretryable.js';
import type { ChildError } from './child-pool.js';

/** Enough for any message and the stack of any mistake; a handler may have put a whole document into one. */
const longestMessage = 8_192;
const longestStack = 16_384;

/** Whatever was thrown, as plain data of bounded size. Never throws itself, whatever its getters do. */
export function plainChildError(thrown: unknown): ChildError {
  try {
    return thrown instanceof Error ? ofError(thrown) : ofOther(thrown);
  } catch {
    return { name: 'Error', message: 'Something was thrown that cannot be read.' };
  }
}

/** The error in the child that its parent's answer tells of. */
export function errorOf({ name, message, code }: ChildError): Error {
  if (code === 'InvalidTask') return new InvalidTask(message);
  if (code === 'PayloadTooLarge') return new PayloadTooLarge(message);
  if (code === 'UnknownTask') return new UnknownTask(message);
  return Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });
}

function ofError(error: Error): ChildError {
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return {
    name: cut(name, 256),
    message: cut(message, longestMessage),
    ...(typeof stack === 'string' ? { stack: cut(stack, longestStack) } : {}),
    ...(typeof code === 'string' ? { code: cut(code, 256) } : {}),
    ...(isUnretryable(error) ? { unretryable: true } : {}),
  };
}

function ofOther(thrown: unknown): ChildError {
  const message = typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 2 });
  return { name: 'Error', message: cut(message, longestMessage) };
}

/** NUL and lone surrogates are replaced: PostgreSQL could not store them. */
function cut(text: unknown, length: number): string {
  const whole = (String(text) as string & { toWellFormed(): string })
    .toWellFormed()
    .replaceAll('\0', '\uFFFD');
  return whole.length <= length ? whole : `${whole.slice(0, length)}…`;
}

import { inspect } from 'node:util';
import type { TaskError } from '../store/store.js';
import { maxJsonBytes } from '../tasks/storable-json.js';

/**
 * What a handler ends with may be anything; what reaches the store is JSON that it takes: a handler's mistake must
 * never block the end of its attempt, nor of those that are finished in the same call.
 */
export type PlainValue = { plain: true; value: unknown } | { plain: false; error: TaskError };

const maxMessageLength = 8_192;
const maxCodeLength = 128;

/**
 * The value as JSON has it: `undefined` is null, and NUL and lone surrogates, which PostgreSQL cannot store, become
 * U+FFFD. Not plain: cycles, BigInt, nesting without end, `toJSON` that throws, and more than 1 MiB.
 */
export function plainValue(value: unknown, what: string): PlainValue {
  if (value === undefined || value === null) return { plain: true, value: null };
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (error) {
    const message = `${what} cannot be stored as JSON: ${messageOf(error)}`;
    return { plain: false, error: { code: 'InvalidTask', message: storableText(message, maxMessageLength) } };
  }
  if (text === undefined) return { plain: true, value: null };
  const bytes = Buffer.byteLength(text);
  if (bytes > maxJsonBytes) {
    const message = `${what} is ${bytes} bytes of JSON; the limit is ${maxJsonBytes}.`;
    return { plain: false, error: { code: 'PayloadTooLarge', message } };
  }
  return { plain: true, value: JSON.parse(withoutUnstorable(text)) };
}

/** What a handler threw, as the store keeps it: a code, a message of bounded length, and no stack. */
export function plainError(thrown: unknown): TaskError {
  return {
    code: storableText(codeOf(thrown), maxCodeLength),
    message: storableText(messageOf(thrown), maxMessageLength),
  };
}

/** The text without what PostgreSQL cannot store, cut to a length. */
export function storableText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return (cut as string & { toWellFormed(): string }).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** JSON.stringify escapes a lone surrogate, and nothing else, as \ud8.. to \udf..; the backslash must not be escaped itself. */
const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

function withoutUnstorable(text: string): string {
  return text.includes('\\u') ? text.replace(unstorable, '$1\\ufffd') : text;
}

/** A `code` of its own (as Node's and Holdfast's errors have), or the name of its class. */
function codeOf(thrown: unknown): string {
  return textProperty(thrown, 'code') ?? textProperty(thrown, 'name') ?? 'Error';
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  const message = textProperty(thrown, 'message');
  if (message !== null) return message;
  try {
    return inspect(thrown, { depth: 2, breakLength: Infinity });
  } catch {
    return 'Something was thrown that cannot be shown.';
  }
}

/** A getter of something thrown may throw itself. */
function textProperty(thrown: unknown, property: string): string | null {
  if (typeof thrown !== 'object' || thrown === null) return null;
  try {
    const value = (thrown as Record<string, unknown>)[property];
    return typeof value === 'string' && value !== '' ? value : null;
  } catch {
    return null;
  }
}

import { InvalidTask, PayloadTooLarge } from '../errors.js';

/** The most that a payload, a result or a progress update may take as JSON text in UTF-8: 1 MiB. */
export const maxJsonBytes = 1_048_576;

/** JSON.stringify and the parser of jsonb both recurse; deeper values are refused before either does. */
const maxDepth = 500;

/**
 * The value as JSON text. Throws InvalidTask, naming the path, for anything that would be lost or changed on
 * its way through JSON and jsonb (undefined, functions, BigInt, NaN, cycles, class instances, NUL, lone
 * surrogates …), and PayloadTooLarge beyond 1 MiB. −0 becomes 0.
 */
export function storableJson(value: unknown, what: string): string {
  checkValue(value, what, []);
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxJsonBytes) return text;
  throw new PayloadTooLarge(
    `${what} is ${bytes} bytes of JSON; the limit is ${maxJsonBytes}. Store the data elsewhere and send where.`,
  );
}

function checkValue(value: unknown, path: string, ancestors: readonly object[]): void {
  switch (typeof value) {
    case 'string':
      return checkText(value, path);
    case 'number':
      if (Number.isFinite(value)) return;
      throw new InvalidTask(`${path} is ${value}, which JSON cannot carry.`);
    case 'boolean':
      return;
    case 'object':
      return value === null ? undefined : checkObject(value, path, ancestors);
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new InvalidTask(`${path} is ${described(value)}, which JSON cannot carry.`);
  }
}

function checkObject(value: object, path: string, ancestors: readonly object[]): void {
  if (ancestors.includes(value)) throw new InvalidTask(`${path} is a cycle: it contains itself.`);
  if (ancestors.length >= maxDepth)
    throw new InvalidTask(`${path} is nested deeper than ${maxDepth} levels.`);
  const inside = [...ancestors, value];
  if (Array.isArray(value)) return checkArray(value, path, inside);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new InvalidTask(
      `${path} is an instance of ${classOf(value)}; only plain objects and arrays are stored.`,
    );
  }
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw new InvalidTask(`${path} has a property named by a symbol, which JSON cannot carry.`);
  }
  for (const [key, inner] of Object.entries(value)) {
    checkText(key, `A property name in ${path}`);
    checkValue(inner, propertyPath(path, key), inside);
  }
}

/** Holes and named properties of an array are dropped by JSON without a word, hence the counting. */
function checkArray(value: unknown[], path: string, inside: readonly object[]): void {
  if (Object.keys(value).length !== value.length) {
    throw new InvalidTask(`${path} is an array with holes or named properties, which JSON cannot carry.`);
  }
  for (const [index, inner] of value.entries()) checkValue(inner, `${path}[${index}]`, inside);
}

function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw new InvalidTask(`${path} contains NUL: PostgreSQL cannot store it.`);
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed()) {
    throw new InvalidTask(`${path} contains a lone surrogate: it is not well-formed text.`);
  }
}

function propertyPath(path: string, key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function described(value: unknown): string {
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}

function classOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } };
  return typeof constructor?.name === 'string' && constructor.name !== '' ? constructor.name : 'a class';
}

import { inspect } from 'node:util';

/**
 * A value of any kind as a message shows it, cut to `longest` characters. Never throws: what was given in the place
 * of something else may refuse to become text.
 */
export function shown(value: unknown, longest = 100): string {
  const text = textOf(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

function textOf(value: unknown): string {
  try {
    if (typeof value === 'string') return JSON.stringify(value);
    if (value instanceof Error) return String(value);
    return inspect(value, { depth: 1, breakLength: Infinity });
  } catch {
    return 'something that cannot be shown';
  }
}

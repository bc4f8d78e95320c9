import { InvalidTask } from '../errors.js';
import { shown } from '../shown.js';

/** Throws InvalidTask for an option that `what` does not take, with the nearest one that it does. */
export function refuseUnknownOptions(given: unknown, known: readonly string[], what: string): void {
  requireOptions(given, what);
  for (const option of Object.keys(given)) {
    if (known.includes(option)) continue;
    const suggestion = nearest(option, known);
    const hint = suggestion === null ? `It takes ${known.join(', ')}.` : `Did you mean "${suggestion}"?`;
    throw new InvalidTask(`${what} takes no option "${option}". ${hint}`);
  }
}

/** Throws InvalidTask unless options were given as an object: a number in their place must not count as none. */
export function requireOptions(given: unknown, what: string): asserts given is object {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return;
  throw new InvalidTask(`${what} takes its options as an object; got ${shown(given)}.`);
}

/** The word of `known` within two edits (one for a short word), or null. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = word.length <= 4 ? 2 : 3;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

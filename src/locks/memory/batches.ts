import { chunksOf } from '../chunks.js';
import type { Call } from './call.js';

/**
 * Runs a batch as the calls that the Redis adapter would make, each with a budget of its own. A word instead of
 * answers ends it. A call that answers only the first of its items is followed by one for the rest.
 */
export function inCalls<T, R extends unknown[] | string>(
  items: readonly T[],
  weightOf: (item: T) => number,
  newCall: () => Call,
  run: (call: Call, chunk: T[]) => R,
): R {
  const answers: unknown[] = [];
  for (const chunk of chunksOf(items, weightOf)) {
    for (let rest = chunk; rest.length > 0;) {
      const some = run(newCall(), rest);
      if (typeof some === 'string') return some;
      for (const answer of some) answers.push(answer);
      rest = rest.slice(some.length);
    }
  }
  return answers as R;
}

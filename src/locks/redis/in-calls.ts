import { chunksOf } from '../chunks.js';

/**
 * Runs a batch in calls that are short enough, one after the other. A word instead of answers ends it. A call that
 * answers only the first of its items is followed by one for the rest.
 */
export async function inCalls<T, R extends unknown[] | string>(
  items: readonly T[],
  weightOf: (item: T) => number,
  run: (chunk: T[]) => Promise<R>,
): Promise<R> {
  const answers: unknown[] = [];
  for (const chunk of chunksOf(items, weightOf)) {
    for (let rest = chunk; rest.length > 0;) {
      const some = await run(rest);
      if (typeof some === 'string') return some;
      if (some.length === 0) throw new Error('A script left its whole batch undone.');
      for (const answer of some) answers.push(answer);
      rest = rest.slice(some.length);
    }
  }
  return answers as R;
}

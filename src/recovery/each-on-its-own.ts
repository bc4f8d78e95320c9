import { Unavailable } from '../errors.js';
import { EpochRefused } from '../locks/lock-table.js';

/**
 * G5: does `work` on all items at once; where that fails, on each alone, so that one that cannot be worked on never
 * keeps the others back. Resolves with the answers in order; `failed` answers for an item that failed alone. What
 * concerns no single item is thrown: an outage, or a refused epoch.
 */
export async function eachOnItsOwn<T, A>(
  items: readonly T[],
  work: (items: T[]) => Promise<A[]>,
  failed: (item: T, error: unknown) => A,
): Promise<A[]> {
  if (items.length === 0) return [];
  try {
    return await work([...items]);
  } catch (error) {
    if (error instanceof Unavailable || error instanceof EpochRefused) throw error;
    const [first] = items;
    if (items.length === 1) return [failed(first as T, error)];
  }
  const answers: A[] = [];
  for (const item of items) answers.push(...(await eachOnItsOwn([item], work, failed)));
  return answers;
}

/** What one call of the lock table carries at most: it keeps a script short of 10 ms. */
export const maxHoldsPerCall = 100;
export const maxResourcesPerCall = 500;

/**
 * Cuts a batch, in order, into what one call each may carry: 100 items or a weight of 500, whatever comes
 * first. An item heavier than that goes alone. The weight of a hold is the number of its resources.
 */
export function chunksOf<T>(items: readonly T[], weightOf: (item: T) => number = () => 0): T[][] {
  const chunks: T[][] = [];
  let chunk: T[] = [];
  let weight = 0;
  for (const item of items) {
    const more = weightOf(item);
    const full = chunk.length >= maxHoldsPerCall || weight + more > maxResourcesPerCall;
    if (chunk.length > 0 && full) {
      chunks.push(chunk);
      chunk = [];
      weight = 0;
    }
    chunk.push(item);
    weight += more;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** The weight of a hold. */
export function countResources(hold: { exclusive: readonly string[]; shared: readonly string[] }): number {
  return hold.exclusive.length + hold.shared.length;
}

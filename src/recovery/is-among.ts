/**
 * Whether `self` is one of `count` that are chosen from `all`, the same ones in every process that asks. The choice is
 * spread, since neighbours were often started on one machine and die with it.
 */
export function isAmong(count: number, all: readonly string[], self: string): boolean {
  const rank = spread(self);
  return all.filter((each) => each !== self && spread(each) < rank).length < count;
}

/** Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). */
function spread(incarnation: string): bigint {
  return BigInt.asUintN(32, BigInt(incarnation) * 2_654_435_761n);
}

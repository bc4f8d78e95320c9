const bucketLimit = 256;

/**
 * A set in order: buckets of at most 256 items, so that adding and removing cost a binary search and a short
 * move, a rank costs one step a bucket, and the first item costs nothing, also with 100,000 items.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #buckets: T[][] = [];
  #size = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  first(): T | undefined {
    return this.#buckets[0]?.[0];
  }

  has(item: T): boolean {
    return this.#find(item).found;
  }

  /** The number of items before this one, or −1 where it is not in the list. */
  rank(item: T): number {
    const { at, index, found } = this.#find(item);
    if (!found) return -1;
    let before = index;
    for (let bucket = 0; bucket < at; bucket++) before += this.#buckets[bucket]?.length ?? 0;
    return before;
  }

  /** Returns whether it was added: an equal item may be there. */
  add(item: T): boolean {
    const { at, index, found } = this.#find(item);
    if (found) return false;
    this.#size += 1;
    const bucket = this.#buckets[at];
    if (bucket === undefined) this.#append(item);
    else {
      bucket.splice(index, 0, item);
      if (bucket.length > bucketLimit) this.#buckets.splice(at + 1, 0, bucket.splice(bucketLimit / 2));
    }
    return true;
  }

  /** Returns whether it was there. */
  delete(item: T): boolean {
    const { at, index, found } = this.#find(item);
    const bucket = this.#buckets[at];
    if (!found || bucket === undefined) return false;
    this.#size -= 1;
    bucket.splice(index, 1);
    if (bucket.length === 0) this.#buckets.splice(at, 1);
    return true;
  }

  /** The items from the first that is not before `item` (from the very first where it is undefined). */
  *from(item?: T): Generator<T> {
    const { at, index } = item === undefined ? { at: 0, index: 0 } : this.#find(item);
    for (let bucket = at; bucket < this.#buckets.length; bucket++) {
      const items = this.#buckets[bucket] ?? [];
      for (let next = bucket === at ? index : 0; next < items.length; next++) yield items[next] as T;
    }
  }

  [Symbol.iterator](): Generator<T> {
    return this.from();
  }

  clone(): SortedList<T> {
    const copy = new SortedList<T>(this.#compare);
    copy.#buckets = this.#buckets.map((bucket) => [...bucket]);
    copy.#size = this.#size;
    return copy;
  }

  /** Past every item. A full last bucket is left as it is: most lists grow at their end only. */
  #append(item: T): void {
    const last = this.#buckets.at(-1);
    if (last === undefined || last.length >= bucketLimit) this.#buckets.push([item]);
    else last.push(item);
  }

  /** The first bucket whose last item is not before `item`, and where in it the item is or would be. */
  #find(item: T): { at: number; index: number; found: boolean } {
    const buckets = this.#buckets;
    const at = lowerBound(buckets.length, (middle) => this.#isBefore(buckets[middle]?.at(-1), item));
    const bucket = buckets[at];
    if (bucket === undefined) return { at, index: 0, found: false };
    const index = lowerBound(bucket.length, (middle) => this.#isBefore(bucket[middle], item));
    return { at, index, found: this.#compare(bucket[index] as T, item) === 0 };
  }

  #isBefore(other: T | undefined, item: T): boolean {
    return this.#compare(other as T, item) < 0;
  }
}

/** The first index of `length` that is not before. */
function lowerBound(length: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Since when nobody has served a lane, as one process sees it on its monotonic clock. */
export class UnservedLanes {
  readonly #limitMs: number;
  #since = new Map<string, number>();

  /** `limitMs`: so long a worker may be away, as when it is started again, before others go on with what it reserves. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** To be told at each look which lanes nobody serves; answers with those of them that have been so for too long. */
  overdue(unserved: readonly string[], now: number): string[] {
    this.#since = new Map(unserved.map((lane) => [lane, this.#since.get(lane) ?? now]));
    return unserved.filter((lane) => now - (this.#since.get(lane) ?? now) >= this.#limitMs);
  }
}

/** The rules of the store, by name: a mutant is the store without one of them. */
export class Guards {
  readonly #off: ReadonlySet<string>;

  constructor(off: readonly string[] = []) {
    this.#off = new Set(off);
  }

  on(guard: string): boolean {
    return !this.#off.has(guard);
  }
}

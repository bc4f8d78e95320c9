/** Opens something once for all who ask at a time or later; after a failure the next who asks tries again. */
export class OpenOnce<T> {
  readonly #open: () => Promise<T>;
  #opening: Promise<T> | null = null;
  #opened: { value: T } | null = null;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  get(): Promise<T> {
    this.#opening ??= this.#openNow();
    return this.#opening;
  }

  /** What is open already, or null. */
  get opened(): T | null {
    return this.#opened?.value ?? null;
  }

  /** Resolves when no opening is under way, however it ended, with what is open. */
  async ended(): Promise<T | null> {
    await this.#opening?.catch(() => {});
    return this.opened;
  }

  async #openNow(): Promise<T> {
    try {
      const value = await this.#open();
      this.#opened = { value };
      return value;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }
}

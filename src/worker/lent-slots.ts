/** The slots of handlers that wait for other tasks: those may run in their place. */
export class LentSlots {
  readonly #onLent: () => void;
  #lent = 0;

  constructor(onLent: () => void) {
    this.#onLent = onLent;
  }

  get lent(): number {
    return this.#lent;
  }

  /**
   * A handler waits. It goes on, when the returned function is called, whether or not its slot is free again: until then
   * one task more may run than there are slots.
   */
  lend(): () => void {
    let lent = true;
    this.#lent += 1;
    this.#onLent();
    return () => {
      if (lent) this.#lent -= 1;
      lent = false;
    };
  }
}

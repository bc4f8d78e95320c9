import type { TaskRow } from '../store/store.js';
import type { AdHocLock } from './ad-hoc-lock.js';
import { LockLost } from '../errors.js';

/** A lock while it is held, and after. */
export class HeldLock implements AdHocLock {
  readonly id: string;
  readonly exclusive: readonly string[];
  readonly shared: readonly string[];
  readonly fence: string;
  readonly #lost = new AbortController();
  readonly #asker: string | null;
  readonly #letGo: (lock: HeldLock) => void;
  #over = (): void => {};
  #released: Promise<void> | null = null;

  constructor({ id, exclusive, shared, fence, parent }: TaskRow, letGo: (lock: HeldLock) => void) {
    this.id = id;
    this.exclusive = exclusive;
    this.shared = shared;
    this.fence = fence ?? '';
    this.#asker = parent;
    this.#letGo = letGo;
  }

  /** The task whose handler asked for it, if one did. */
  get asker(): string | null {
    return this.#asker;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  release(): Promise<void> {
    if (this.#released !== null) return this.#released;
    this.#released = new Promise((resolve) => {
      this.#over = resolve;
    });
    if (this.signal.aborted) this.gone();
    else this.#letGo(this);
    return this.#released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Nothing of it is left here. */
  gone(): void {
    this.#over();
  }

  /** Lets go of it although its holder has not. */
  end(cause: Error): void {
    if (this.#released !== null) return;
    void this.release();
    this.#abort(cause);
  }

  /** It may be another's at any moment, and is left to be swept. */
  lose(cause: Error): void {
    if (this.#released === null) this.#abort(cause);
    this.gone();
  }

  #abort(cause: Error): void {
    this.#lost.abort(new LockLost(`Lock ${this.id} is not held any more: ${cause.message}`, { cause }));
  }
}

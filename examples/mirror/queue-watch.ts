import { setTimeout as pause } from 'node:timers/promises';
import type { Holdfast } from 'holdfast';

const pauseMs = 200;

/** Looks every now and then at how many tasks wait for a resource. */
export class QueueWatch {
  readonly #hf: Holdfast;
  readonly #resource: string;
  readonly #stopping = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #longest = 0;

  constructor(hf: Holdfast, resource: string) {
    this.#hf = hf;
    this.#resource = resource;
  }

  /** The most that were seen waiting at once. */
  get longest(): number {
    return this.#longest;
  }

  /** Calls `onLook` after each look. */
  start(onLook: () => void): void {
    this.#watching = this.#watch(onLook);
    this.#watching.catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  async #watch(onLook: () => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const { locks } = await this.#hf.locks.list({ resource: this.#resource });
      this.#longest = Math.max(this.#longest, ...locks.map(({ waitingCount }) => waitingCount));
      onLook();
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

import { backoffMs, type Backoff } from '../worker/backoff.js';

/** With up to a quarter taken off at random: 1 s … 30 s. */
const restartBackoff: Backoff = { initialMs: 1_334, maxMs: 30_000 };

/** Who has lived for so long, in milliseconds, has not failed at its start: the pauses begin anew. */
const steadyMs = 60_000;

/** How long to wait before a process that ended is started again: longer and longer while it does not live long. */
export class RestartPauses {
  readonly #random: () => number;
  #shortLives = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** The pause in milliseconds after a life of `livedMs`. */
  after(livedMs: number): number {
    this.#shortLives = livedMs >= steadyMs ? 1 : this.#shortLives + 1;
    return backoffMs(restartBackoff, this.#shortLives, this.#random);
  }
}

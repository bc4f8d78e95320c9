import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The one contract of everything in a worker that goes on for ever: `poll` does one round and says how long to
 * pause after it.
 */
export interface LoopOptions {
  /**
   * One round. Resolves with the pause before the next in milliseconds: 0 for at once, Infinity for not before
   * `wake`. `signal` aborts when the loop is stopped.
   */
  poll(signal: AbortSignal): Promise<number>;
  /** Told what a round threw and how many in a row did; answers with the pause. */
  onError(error: unknown, failures: number): number;
  /** How long `stop` waits for a round under way, in milliseconds. Default 5,000. */
  stopLimitMs?: number;
}

export class Loop {
  readonly #options: LoopOptions;
  readonly #stopping = new AbortController();
  #woken = false;
  #failing = false;
  #endPause: (() => void) | null = null;
  #rounds: Promise<void> | null = null;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Idempotent; does nothing after `stop`. */
  start(): void {
    this.#rounds ??= this.#goRounds();
  }

  /** Ends the pause, unless it is one after a failure; a round under way is followed by another at once. */
  wake(): void {
    this.#woken = true;
    if (!this.#failing) this.#endPause?.();
  }

  /** Starts no further round and waits for the one under way, within the limit. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#endPause?.();
    if (this.#rounds === null) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.stopLimitMs ?? 5_000);
    });
    await Promise.race([this.#rounds, limit]);
    clearTimeout(timer);
  }

  async #goRounds(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      this.#woken = false;
      let pauseMs: number;
      try {
        pauseMs = await this.#options.poll(signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        // A stopped loop has nobody to tell: what broke off its last round is the stop itself.
        pauseMs = signal.aborted ? 0 : this.#options.onError(error, failures);
      }
      // Wake-ups come in faster than a server recovers: they do not shorten the pause after a failure.
      this.#failing = failures > 0;
      // Rounds without a pause may consist of settled promises only: let timers and sockets have their turn.
      if (pauseMs <= 0 || (this.#woken && !this.#failing)) await nextTurn();
      else await this.#pause(pauseMs);
    }
  }

  async #pause(pauseMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      if (pauseMs !== Infinity) timer = setTimeout(resolve, pauseMs);
    });
    this.#endPause = null;
    clearTimeout(timer);
  }
}

import type { Moment } from './deadline.js';
import { currentMoment } from './deadline.js';

/** Sends one beat at a time. */
export interface ThreadBeater {
  /** Bounded in time; rejects where it is unknown whether the beat arrived. */
  beat(): Promise<'beaten' | 'reaped'>;
  /** At once, and idempotent; a beat under way may then reject. */
  close(): void;
}

export interface HeartbeatLoopOptions {
  beater: ThreadBeater;
  /** From one beat to the next, in milliseconds. */
  intervalMs: number;
  /** `sentAt`: just before the beat that was confirmed was sent. */
  onBeaten: (sentAt: Moment) => void;
  onReaped: () => void;
  onError: (error: unknown) => void;
}

const firstRetryMs = 50;

/** Beats until the worker is reaped or `stop` is called. A failed beat is repeated soon, then less and less soon. */
export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #stopped = false;

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#stopped) void this.#beat();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#options.beater.close();
  }

  async #beat(): Promise<void> {
    const sentAt = currentMoment();
    try {
      const outcome = await this.#options.beater.beat();
      this.#failures = 0;
      if (this.#stopped) return;
      if (outcome === 'beaten') this.#options.onBeaten(sentAt);
      else this.#options.onReaped();
    } catch (error) {
      this.#failures += 1;
      if (!this.#stopped) this.#options.onError(error);
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#beat(), this.#pauseMs(sentAt));
  }

  #pauseMs(sentAt: Moment): number {
    const { intervalMs } = this.#options;
    if (this.#failures === 0) return sentAt.monotonicMs + intervalMs - currentMoment().monotonicMs;
    // With jitter: after an outage of the database all workers come back at once.
    const longest = Math.min(firstRetryMs * 2 ** (this.#failures - 1), intervalMs / 2);
    return longest * (0.5 + Math.random() / 2);
  }
}

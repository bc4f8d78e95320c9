import type { Wake } from '../lock-table.js';
import type { TableState } from './table-state.js';
import { takeWakeUp } from './wake-ups.js';

interface Waiting {
  epoch: string;
  lanes: readonly string[];
  resolve: (wake: Wake) => void;
}

/** Those who wait for a wake-up, the longest first: each wake-up goes to one of them. */
export class WaitingProcesses {
  readonly #state: TableState;
  readonly #waiting = new Set<Waiting>();
  #served = 0;

  constructor(state: TableState) {
    this.#state = state;
  }

  wait(epoch: string, lanes: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<Wake> {
    if (signal.aborted) return Promise.resolve('timeout');
    const wake = takeWakeUp(this.#state, epoch, lanes);
    if (wake !== null || timeoutMs <= 0) return Promise.resolve(wake ?? 'timeout');
    return new Promise((resolve) => {
      const end = (): void => waiting.resolve('timeout');
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end);
      const waiting: Waiting = {
        epoch,
        lanes,
        resolve: (wake) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          this.#waiting.delete(waiting);
          resolve(wake);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** To be called after every operation: it gives out what the operation pushed. */
  serve(): void {
    if (this.#served === this.#state.pushes) return;
    this.#served = this.#state.pushes;
    for (const waiting of this.#waiting) {
      const wake = takeWakeUp(this.#state, waiting.epoch, waiting.lanes);
      if (wake !== null) waiting.resolve(wake);
    }
  }

  /** Sends all of them home. */
  end(): void {
    for (const waiting of this.#waiting) waiting.resolve('timeout');
  }
}

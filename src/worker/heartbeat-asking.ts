import type { ThreadBeater } from './heartbeat-loop.js';

/** Beats by asking the thread of the worker, which has the only connection there is. */
export class AskingBeater implements ThreadBeater {
  readonly #ask: () => void;
  #asked: Asked | null = null;

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  beat(): Promise<'beaten' | 'reaped'> {
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#ask();
    });
  }

  answer(outcome: 'beaten' | 'reaped'): void {
    this.#asked?.resolve(outcome);
  }

  fail(error: unknown): void {
    this.#asked?.reject(error);
  }

  close(): void {
    this.#asked = null;
  }
}

interface Asked {
  resolve: (outcome: 'beaten' | 'reaped') => void;
  reject: (error: unknown) => void;
}

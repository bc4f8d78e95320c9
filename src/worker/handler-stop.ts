import type { HandlerRun } from './handler-run.js';

/** From SIGTERM to SIGKILL for a child, in milliseconds. */
const killGraceMs = 2_000;

/** Asks a handler to end, and insists where it runs in a child: first its signal, then SIGTERM, then SIGKILL. */
export class HandlerStop {
  readonly #handler: Pick<HandlerRun, 'abort' | 'terminate' | 'kill'>;
  #timer: NodeJS.Timeout | undefined;
  #asked = false;
  #over = false;

  constructor(handler: Pick<HandlerRun, 'abort' | 'terminate' | 'kill'>) {
    this.#handler = handler;
  }

  /** The first call counts. `graceMs`: from the signal to SIGTERM. */
  stop(reason: Error, graceMs: number): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#handler.abort(reason);
    this.#timer = setTimeout(() => {
      this.#handler.terminate();
      this.#timer = setTimeout(() => this.#handler.kill(), killGraceMs);
    }, graceMs);
  }

  /** Whether the handler has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** It has ended. */
  ended(): void {
    this.#asked = true;
    this.#over = true;
    clearTimeout(this.#timer);
  }
}

import type { HandlerRun } from './handler-run.js';

/** When a child that does not heed its signal is ended, in milliseconds from the signal. */
export interface StopPatience {
  /** SIGTERM. */
  terminateMs: number;
  /** SIGKILL. */
  killMs: number;
}

/** Asks a handler to end, and insists where it runs in a child: first its signal, then SIGTERM, then SIGKILL. */
export class HandlerStop {
  readonly #handler: Pick<HandlerRun, 'abort' | 'terminate' | 'kill'>;
  #timer: NodeJS.Timeout | undefined;
  #killAt = Infinity;
  #over = false;

  constructor(handler: Pick<HandlerRun, 'abort' | 'terminate' | 'kill'>) {
    this.#handler = handler;
  }

  /** Of several calls the most impatient one counts. */
  stop(reason: Error, { terminateMs, killMs }: StopPatience): void {
    const killAt = performance.now() + killMs;
    if (this.#over || killAt >= this.#killAt) return;
    if (this.#killAt === Infinity) this.#handler.abort(reason);
    this.#killAt = killAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#handler.terminate();
      this.#timer = setTimeout(() => this.#handler.kill(), killMs - terminateMs);
    }, terminateMs);
  }

  /** Whether the handler has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** It has ended. */
  ended(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }
}

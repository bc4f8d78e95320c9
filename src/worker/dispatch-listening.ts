import type { Incarnation } from './incarnation.js';
import { onLoopError } from './incarnation.js';
import { Loop } from './loop.js';

/** Calls the listener at each NOTIFY of a dispatch that could not wake admission itself, until it is ended. */
export type ListenForDispatches = (listener: () => void) => Promise<() => Promise<void>>;

/** How often it is judged anew who listens, in milliseconds. */
const judgedEveryMs = 30_000;
const eldestPerPage = 20;

/**
 * Listens for the NOTIFY of tasks that were dispatched from SQL. PostgreSQL tells everyone who listens, and one
 * dispatch must not wake a whole fleet: only the eldest worker online does. Without one, the poll of admission
 * finds the tasks.
 */
export class DispatchListening {
  readonly #incarnation: Incarnation;
  readonly #listen: ListenForDispatches;
  readonly #wakeAdmission: () => void;
  readonly #loop: Loop;
  #end: (() => Promise<void>) | null = null;

  constructor(incarnation: Incarnation, listen: ListenForDispatches, wakeAdmission: () => void) {
    this.#incarnation = incarnation;
    this.#listen = listen;
    this.#wakeAdmission = wakeAdmission;
    this.#loop = new Loop({
      poll: () => this.#judge(),
      onError: onLoopError(incarnation.log, 'listening for dispatches'),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#endListening();
  }

  async #judge(): Promise<number> {
    const { store, owner } = this.#incarnation;
    const workers = await store.listWorkers({ after: null, limit: eldestPerPage });
    const eldest = workers.find((worker) => worker.kind === 'worker' && worker.online && !worker.reaped);
    if (eldest?.incarnation !== owner.incarnation) await this.#endListening();
    else this.#end ??= await this.#listen(this.#wakeAdmission);
    return judgedEveryMs * (0.9 + Math.random() / 5);
  }

  async #endListening(): Promise<void> {
    const end = this.#end;
    this.#end = null;
    await end?.();
  }
}

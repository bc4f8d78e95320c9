import type { LockRequest } from '../store/store.js';
import type { HeldLock } from './held-lock.js';
import { LockTimeout } from '../errors.js';

export interface LockWaitOptions {
  waitMs: number;
  signal: AbortSignal | undefined;
  /** Called where it ends without the lock. */
  onGivenUp(): void;
}

/** One who waits for a lock. It ends once: granted or given up. */
export class LockWait {
  readonly lock: LockRequest['lock'];
  /** Rejects where it was given up. */
  readonly granted: Promise<HeldLock>;
  /** Whether its request was answered, or its answer lost. */
  sent = false;
  readonly #options: LockWaitOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.giveUp(this.#options.signal?.reason as Error);
  #resolve: (lock: HeldLock) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #state: 'waiting' | 'granted' | 'given-up' = 'waiting';

  constructor(lock: LockRequest['lock'], options: LockWaitOptions) {
    this.lock = lock;
    this.#options = options;
    this.granted = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const message = `The lock was not granted within ${options.waitMs} ms.`;
    this.#timer = setTimeout(() => this.giveUp(new LockTimeout(message)), options.waitMs);
    options.signal?.addEventListener('abort', this.#onAbort);
  }

  get state(): 'waiting' | 'granted' | 'given-up' {
    return this.#state;
  }

  grant(lock: HeldLock): void {
    if (this.#end('granted')) this.#resolve(lock);
  }

  giveUp(error: unknown): void {
    if (!this.#end('given-up')) return;
    this.#reject(error);
    this.#options.onGivenUp();
  }

  #end(state: 'granted' | 'given-up'): boolean {
    if (this.#state !== 'waiting') return false;
    this.#state = state;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

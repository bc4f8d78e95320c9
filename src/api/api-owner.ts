import type { AcquireOptions, AdHocLock } from './ad-hoc-lock.js';
import type { ApiIncarnation, ApiOptions } from './api-incarnation.js';
import type { Resources } from '../resources.js';
import type { DispatchedTask } from '../tasks/dispatch/dispatch-signature.js';
import type { PreparedTask } from '../tasks/dispatch/prepare-task.js';
import { Unavailable } from '../errors.js';
import { currentHandler } from '../handler-context.js';
import { taskOf } from '../tasks/task.js';
import { startApiIncarnation } from './api-incarnation.js';
import { checkAcquire } from './check-acquire.js';

/**
 * This process as an owner: registered when it first needs to be, and anew, as another incarnation, when it was fenced.
 */
export class ApiOwner {
  readonly #open: () => Promise<ApiOptions>;
  #current: Promise<ApiIncarnation> | null = null;
  #closed = false;

  constructor(open: () => Promise<ApiOptions>) {
    this.#open = open;
  }

  async acquire(resources: Partial<Resources>, options: AcquireOptions): Promise<AdHocLock> {
    const acquire = { ...checkAcquire(resources, options), asker: currentHandler()?.task ?? null };
    acquire.signal?.throwIfAborted();
    const incarnation = await unlessAborted(this.#incarnation(), acquire.signal);
    acquire.signal?.throwIfAborted();
    return incarnation.use(({ locks }) => locks.acquire(acquire));
  }

  /** Inserts the task as running and begins to run it. Throws ResourcesBusy, Fenced or Unavailable. */
  async runNow({ task: { runAt: _, ...task } }: PreparedTask): Promise<DispatchedTask> {
    const incarnation = await this.#incarnation();
    return incarnation.use(async ({ inserts, attempts }) => {
      const row = await inserts.insertRunning({ task, lock: false });
      attempts.begin([row]);
      const { createdAt: _createdAt, ...dispatched } = taskOf(row);
      return dispatched;
    });
  }

  /** Idempotent; waits for what runs at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const current = await this.#current?.catch(() => null);
    await current?.stop();
  }

  async #incarnation(): Promise<ApiIncarnation> {
    for (;;) {
      // Handlers that are waited for go on with the incarnation that there is.
      if (this.#closed && (this.#current === null || currentHandler() === undefined)) {
        throw new Unavailable('This Holdfast is closed.');
      }
      const starting = (this.#current ??= this.#start());
      try {
        const incarnation = await starting;
        if (incarnation.mayAct()) return incarnation;
      } catch (error) {
        this.#forget(starting);
        throw error;
      }
      this.#forget(starting);
    }
  }

  async #start(): Promise<ApiIncarnation> {
    return startApiIncarnation(await this.#open());
  }

  #forget(incarnation: Promise<ApiIncarnation>): void {
    if (this.#current === incarnation) this.#current = null;
  }
}

/** Rejects with the signal's reason where that aborts first; the work goes on, for the next who needs it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const over = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

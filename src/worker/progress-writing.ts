import type { TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { ProgressLines } from './progress-lines.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';
import { OneAtATime } from './one-at-a-time.js';

type Progress = TaskEntry & { lines: ProgressLines };

/** Progress is stored at most so often, in milliseconds, all of a worker's tasks in one call. */
const writePauseMs = 250;

/** Writes the progress of running tasks, soon and in batches. */
export class ProgressWriting {
  readonly #incarnation: Incarnation;
  readonly #unwritten = new Map<string, Progress>();
  // An older call that came in after a newer one would put old lines in the place of new ones.
  readonly #calls = new OneAtATime();
  readonly #loop: Loop;
  #notBefore = 0;

  constructor(incarnation: Incarnation) {
    this.#incarnation = incarnation;
    this.#loop = new Loop({
      poll: () => this.#round(),
      onError: onLoopError(incarnation.log, 'writing progress'),
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  changed(hold: TaskEntry, lines: ProgressLines): void {
    const first = this.#unwritten.size === 0;
    this.#unwritten.set(holdKey(hold), { task: hold.task, entry: hold.entry, lines });
    if (first) this.#loop.wake();
  }

  /** Writes what is unwritten of one task, before its end closes it. Progress is no reason to fail: never throws. */
  async flush(hold: TaskEntry): Promise<void> {
    const { log } = this.#incarnation;
    try {
      // Also waits for a call under way that carries lines of this task.
      await this.#calls.run(() => this.#write([this.#unwritten.get(holdKey(hold)) ?? []].flat()));
    } catch (error) {
      log.warn({ err: error, task: hold.task, entry: hold.entry }, 'the last progress could not be stored');
    }
    this.#unwritten.delete(holdKey(hold));
  }

  async #round(): Promise<number> {
    if (this.#unwritten.size === 0) return Infinity;
    const restMs = this.#notBefore - performance.now();
    if (restMs > 0) return restMs;
    this.#notBefore = performance.now() + writePauseMs;
    await this.#calls.run(() => this.#write([...this.#unwritten.values()]));
    return 0;
  }

  async #write(batch: Progress[]): Promise<void> {
    if (batch.length === 0) return;
    const { store, owner } = this.#incarnation;
    for (const progress of batch) this.#unwritten.delete(holdKey(progress));
    const values = batch.map(({ task, entry, lines }) => ({ task, entry, progress: lines.values }));
    try {
      await store.writeProgress(owner.incarnation, values);
    } catch (error) {
      for (const progress of batch) this.#unwritten.set(holdKey(progress), progress);
      throw error;
    }
  }
}

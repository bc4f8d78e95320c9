import type { ChildProcess } from 'node:child_process';
import type { Recovery } from '../recovery/recovery.js';
import { cleanUpAfterExit, type ExitedProcess } from './clean-up-after-exit.js';
import { SupervisedWorker, type ClaimingWorker } from './supervised-worker.js';

export interface SupervisionOptions {
  names: string[];
  /** Starts the process of a worker, with a channel and a pipe for its stdout. */
  start(name: string): ChildProcess;
  /** How long the workers may take to stop before they are killed, in milliseconds. */
  stopLimitMs: number;
  /** Called once, when all of them claim. */
  onClaiming(workers: ClaimingWorker[]): void;
  recovery: Recovery;
}

/** How long cleaning up may go on in the end, in milliseconds. What a store that does not answer keeps back is left to others. */
const cleanUpLimitMs = 5_000;
/** At least, where the workers have taken all the time that they had to stop. */
const lastCleanUpMs = 500;

/** Worker processes that are started, started again when they are lost, and cleaned up after at once. */
export class Supervision {
  readonly #options: SupervisionOptions;
  readonly #workers: SupervisedWorker[];
  readonly #cleaning = new Set<Promise<void>>();
  readonly #ended = new AbortController();
  readonly #oneClaims: Promise<void>;
  #tellOneClaims: () => void = () => {};
  #stopBy = Infinity;
  #toldClaiming = false;

  constructor(options: SupervisionOptions) {
    const { names, start, stopLimitMs, recovery } = options;
    this.#options = options;
    this.#oneClaims = new Promise((resolve) => (this.#tellOneClaims = resolve));
    this.#workers = names.map(
      (name) =>
        new SupervisedWorker({
          ...{ name, start, stopLimitMs, log: recovery.log },
          onClaiming: () => this.#claims(),
          onExit: (exited) => this.#cleanUp(exited),
        }),
    );
  }

  /**
   * Runs the workers until `stop`, and resolves with whether all of them stopped in order. Rejects with InvalidTask where
   * they cannot work as they were started. Once only.
   */
  async run(): Promise<boolean> {
    const [first, ...others] = this.#workers;
    if (first === undefined) return true;
    const running = [first.run()];
    try {
      // Alone, so that what is wrong with all of them is said once.
      await Promise.race([this.#oneClaims, ...running]);
      running.push(...others.map((worker) => worker.run()));
      return (await Promise.all(running)).every(Boolean);
    } finally {
      this.stop();
      await Promise.allSettled(running);
      const leftMs = Math.min(this.#stopBy - performance.now(), cleanUpLimitMs);
      const limit = setTimeout(() => this.#ended.abort(), Math.max(leftMs, lastCleanUpMs));
      // A call that is under way ends at its own limit.
      await Promise.race([Promise.all(this.#cleaning), aborted(this.#ended.signal)]);
      clearTimeout(limit);
    }
  }

  /** Has each finish its tasks within its grace. Idempotent. */
  stop(): void {
    this.#stopBy = Math.min(this.#stopBy, performance.now() + this.#options.stopLimitMs);
    for (const worker of this.#workers) worker.stop();
  }

  /** Ends all that have not stopped yet: they are lost. After `stop`. */
  kill(): void {
    for (const worker of this.#workers) worker.kill();
  }

  #claims(): void {
    this.#tellOneClaims();
    if (this.#toldClaiming || this.#stopBy < Infinity) return;
    const claiming = this.#workers.flatMap((worker) => worker.claiming ?? []);
    if (claiming.length < this.#workers.length) return;
    this.#toldClaiming = true;
    this.#options.onClaiming(claiming);
  }

  #cleanUp(exited: ExitedProcess): void {
    const cleaned = cleanUpAfterExit(this.#options.recovery, exited, this.#ended.signal);
    this.#cleaning.add(cleaned);
    void cleaned.then(() => this.#cleaning.delete(cleaned));
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

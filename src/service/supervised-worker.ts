import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../log.js';
import type { Owner } from '../owner.js';
import type { ExitedProcess } from './clean-up-after-exit.js';
import { InvalidTask } from '../errors.js';
import { RestartPauses } from './restart-pauses.js';
import { WorkerLife, type WorkerExit } from './worker-life.js';

export interface SupervisedWorkerOptions {
  name: string;
  /** Starts its process; see WorkerLife. */
  start(name: string): ChildProcess;
  /** How long it may take to stop before it is killed, in milliseconds. */
  stopLimitMs: number;
  /** Called whenever it begins to claim. */
  onClaiming(): void;
  /** Called whenever its process has exited, however that was. */
  onExit(exited: ExitedProcess): void;
  log: Logger;
}

/** A worker that claims. */
export interface ClaimingWorker extends Owner {
  pid: number;
}

/** With this status a worker says that it was started in a way that cannot work. */
const wrongUsage = 2;

/** A worker in a process of its own, which is started again under its name whenever it ends unasked. */
export class SupervisedWorker {
  readonly #options: SupervisedWorkerOptions;
  readonly #pauses = new RestartPauses();
  readonly #stopping = new AbortController();
  #life: WorkerLife | null = null;
  #isFirstStart = true;

  constructor(options: SupervisedWorkerOptions) {
    this.#options = options;
  }

  /** null while it has not begun to claim. */
  get claiming(): ClaimingWorker | null {
    const { incarnation, pid } = this.#life ?? {};
    if (!incarnation || pid === undefined) return null;
    return { name: this.#options.name, incarnation, pid };
  }

  /**
   * Goes on until `stop`, then resolves with whether its process ended in order. Rejects with InvalidTask where its first
   * process says that it cannot work. Once only.
   */
  async run(): Promise<boolean> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const life = this.#start();
      const exit = await life.exit;
      this.#life = null;
      const { name, onExit } = this.#options;
      if (life.pid !== undefined) onExit({ name, pid: life.pid });
      if (signal.aborted) return this.#endedInOrder(life, exit);
      this.#refuseWhereItCannotWork(life, exit);
      const pauseMs = this.#pauses.after(life.livedMs);
      this.#tellOfExit(life, exit, pauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
    return true;
  }

  /** Asks its process to stop in order, and kills it where that takes too long. Idempotent. */
  stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    const life = this.#life;
    if (life === null) return;
    life.askToStop();
    const timer = setTimeout(() => this.kill(), this.#options.stopLimitMs);
    void life.exit.then(() => clearTimeout(timer));
  }

  /** Ends its process at once, after `stop`. */
  kill(): void {
    this.#life?.kill();
  }

  #start(): WorkerLife {
    const { name, start, onClaiming } = this.#options;
    this.#life = new WorkerLife(start(name), onClaiming);
    return this.#life;
  }

  #refuseWhereItCannotWork({ incarnation }: WorkerLife, { status }: WorkerExit): void {
    const isFirstStart = this.#isFirstStart;
    this.#isFirstStart = false;
    if (!isFirstStart || incarnation !== null || status !== wrongUsage) return;
    throw new InvalidTask(`Worker ${this.#options.name} cannot be started. Why, it has said above.`);
  }

  #endedInOrder({ incarnation, pid }: WorkerLife, { status, signal }: WorkerExit): boolean {
    const { name, log } = this.#options;
    // Before it heeds signals it has claimed nothing.
    const inOrder = status === 0 || (incarnation === null && signal === 'SIGTERM');
    if (!inOrder) log.error({ worker: name, pid, status, signal }, 'a worker process did not stop in order');
    return inOrder;
  }

  #tellOfExit(
    { incarnation, pid }: WorkerLife,
    { status, signal, error }: WorkerExit,
    pauseMs: number,
  ): void {
    const { name, log } = this.#options;
    const fields = { worker: name, incarnation, pid, status, signal, pauseMs };
    log.error(
      { ...fields, ...(error !== undefined && { err: error }) },
      'a worker process ended unasked, and is started again',
    );
  }
}

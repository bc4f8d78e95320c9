import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** How a process ended. Both are null where it could not be started. */
export interface WorkerExit {
  status: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

/** One process of a supervised worker, from its start to its exit. */
export class WorkerLife {
  /** Never rejects. A process that is stopped, as by SIGSTOP, has not exited. */
  readonly exit: Promise<WorkerExit>;
  /** What it has said that it is, when it began to claim; null before. */
  incarnation: string | null = null;
  readonly #child: ChildProcess;
  readonly #startedAt: number = performance.now();

  /** The process has a channel, whose end asks it to stop in order, and a pipe for its stdout. */
  constructor(child: ChildProcess, onClaiming: () => void) {
    this.#child = child;
    this.exit = exitOf(child);
    // Undefined where no pipe could be made, and so no process.
    if (!child.stdout) return;
    createInterface(child.stdout).on('line', (line) => {
      const incarnation = this.incarnation === null ? incarnationIn(line) : null;
      if (incarnation !== null) {
        this.incarnation = incarnation;
        onClaiming();
      } else {
        // stdout of the service carries its result only.
        process.stderr.write(`${line}\n`);
      }
    });
  }

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get livedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /**
   * Asks it to stop in order. Not by a signal: whoever stops a service may signal each of its processes as well, as
   * systemd does, and a second signal would end a worker at once.
   */
  askToStop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

function exitOf(child: ChildProcess): Promise<WorkerExit> {
  return new Promise((resolve) => {
    child.once('exit', (status, signal) => resolve({ status, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ status: null, signal: null, error });
    });
  });
}

/** What the line says that a worker prints when it claims; null for any other. */
function incarnationIn(line: string): string | null {
  const [, incarnation] = /^\{"ready":true,"name":.+,"incarnation":"(\d+)"\}$/.exec(line) ?? [];
  return incarnation ?? null;
}

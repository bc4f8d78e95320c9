import type { Backend } from '../holdfast/backend.js';
import type { Holdfast } from '../holdfast.js';
import type { DemoProgress } from './demo-progress.js';
import type { DemoWorkers } from './demo-workers.js';
import type { MirrorDemo, MirrorProgress } from './mirror-demo.js';

/** A demo whose job runs. */
export interface DemoJob {
  hf: Holdfast;
  backend: Backend;
  demo: MirrorDemo;
  mirror: string;
  workers: DemoWorkers;
  progress: DemoProgress;
  signal: AbortSignal;
  /** Resolves when so many tasks have ended. */
  settled(tasks: number): Promise<void>;
}

/** How many tasks of a job have ended, for those who wait until it is in its middle. */
export class SettledCount {
  #settled = 0;
  readonly #waiting = new Map<() => void, number>();

  note({ settled }: MirrorProgress): void {
    this.#settled = settled;
    for (const [tell, tasks] of this.#waiting) if (settled >= tasks) tell();
  }

  async reaches(tasks: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#settled >= tasks) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(resolve, tasks);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }
}

/**
 * A signal that aborts at the first SIGINT or SIGTERM. The second one ends the process, as it does by default.
 */
export interface Interruption {
  signal: AbortSignal;
  [Symbol.dispose](): void;
}

export class Interrupted extends Error {
  readonly by: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`Stopped by ${signal}.`);
    this.by = signal;
    this.name = 'Interrupted';
  }
}

export function watchForInterruption(): Interruption {
  const controller = new AbortController();
  const dispose = (): void => {
    process.removeListener('SIGINT', interrupt);
    process.removeListener('SIGTERM', interrupt);
  };
  const interrupt = (signal: NodeJS.Signals): void => {
    dispose();
    controller.abort(new Interrupted(signal));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return { signal: controller.signal, [Symbol.dispose]: dispose };
}

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ErrorCode } from '../errors.js';
import type { Interrupted } from './interruption.js';
import type { Held } from './demo-crash-holds.js';
import type { Crash } from './demo-crash-report.js';
import type { DemoOptions, DemoResult } from './demo.js';
import { compiledFile } from '../entry-point.js';
import { HoldfastError } from '../errors.js';

/** What an embedded process is to do. */
export interface LifeOrder extends DemoOptions {
  worker: string;
  /** What the process before it held when it was killed; null for the first, which is to be killed. */
  heldBefore: Held[] | null;
}

/** What it tells, each once and in this order as far as it comes. */
export type FromLife =
  | { told: 'crash'; crash: Crash }
  /** It holds this now, and stands still to be killed. */
  | { told: 'held'; held: Held[] }
  /** What of that has been recovered by now. */
  | { told: 'recovered'; held: Held[] }
  | { told: 'result'; result: DemoResult }
  | { told: 'failure'; code: ErrorCode | null; message: string };

/**
 * Starts an embedded process and resolves when it has ended. Rejects with what it failed with, or when it ends without
 * the last word. It ends when this process does.
 */
export async function runLife(
  order: LifeOrder,
  signal: AbortSignal,
  hear: (message: FromLife, life: ChildProcess) => void,
): Promise<void> {
  signal.throwIfAborted();
  // A group of its own: Ctrl-C reaches this process alone, which tells the other one once.
  const life = fork(compiledFile(import.meta.url, './demo-crash-main.js'), [], {
    detached: true,
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  let failure: Error | null = null;
  life.on('message', (message: FromLife) => {
    if (message.told === 'failure') failure = failureOf(message);
    else hear(message, life);
  });
  const interrupt = (): void => void life.kill((signal.reason as Interrupted).signal);
  signal.addEventListener('abort', interrupt);
  try {
    const ended = once(life, 'close');
    life.send(order);
    await ended;
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
  signal.throwIfAborted();
  if (failure !== null) throw failure;
}

function failureOf({ code, message }: { code: ErrorCode | null; message: string }): Error {
  return code === null ? new Error(message) : new HoldfastError(code, message);
}

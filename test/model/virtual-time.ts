import { createRequire, syncBuiltinESMExports } from 'node:module';

/** Who is asked instead of the clocks of the system. */
export interface TimeHost {
  now(): number;
  setTimer(run: () => void, ms: number): number;
  clearTimer(timer: number): void;
  drawId(): string;
}

const promises = createRequire(import.meta.url)('node:timers/promises') as Record<string, unknown>;
const immediately = setImmediate;
let host: TimeHost | null = null;

/** Who has the timers and clocks from here on. */
export function giveTimeTo(next: TimeHost): void {
  host = next;
}

/** Of whatever the process makes whose turn it is. */
export function drawId(): string {
  if (host === null) throw new Error('No process has its turn.');
  return host.drawId();
}

/**
 * Takes the timers and clocks of this process into the hands of whoever `giveTimeTo` names, until the returned function is
 * called. The loops of the product run as they are: nothing in them knows of it.
 */
export function takeTime(): () => void {
  const real = { setTimeout, clearTimeout };
  const { stackTraceLimit } = Error;
  // Errors are thrown by the million, and nobody reads where.
  Error.stackTraceLimit = 0;
  const { now } = performance;
  const { random } = Math;
  const promised = { ...promises };
  const start = (run: () => void, ms = 0): number => host?.setTimer(run, ms) ?? 0;
  Object.assign(globalThis, { setTimeout: start, clearTimeout: (timer: number) => host?.clearTimer(timer) });
  performance.now = () => host?.now() ?? 0;
  Math.random = () => 0.5;
  promises['setTimeout'] = delay;
  promises['setImmediate'] = () => Promise.resolve();
  syncBuiltinESMExports();
  return () => {
    Object.assign(globalThis, real);
    Object.assign(promises, promised);
    performance.now = now;
    Error.stackTraceLimit = stackTraceLimit;
    Math.random = random;
    syncBuiltinESMExports();
  };
}

function delay<T>(ms: number, value: T, options?: { signal?: AbortSignal }): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = host?.setTimer(() => resolve(value), ms) ?? 0;
    options?.signal?.addEventListener('abort', () => {
      host?.clearTimer(timer);
      reject(options.signal?.reason as Error);
    });
  });
}

/** Resolves when everything has been done that needs nobody's decision: a turn of the real event loop. */
export function drained(): Promise<void> {
  return new Promise((resolve) => {
    immediately(resolve);
  });
}

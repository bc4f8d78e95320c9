import { setTimeout as delay } from 'node:timers/promises';

/** Resolves with whether `work` has ended within the time; rejects where it rejects in time. */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const waiting = new AbortController();
  const late = delay(limitMs, false, { signal: waiting.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    waiting.abort();
  }
}

/** Resolves with whether `work` has ended, however long that takes; once `signal` aborts, whether it does within the time. */
export async function endsUnlessStopped(
  work: Promise<unknown>,
  signal: AbortSignal,
  limitMs: number,
): Promise<boolean> {
  const over = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { signal: over.signal });
  });
  try {
    return await Promise.race([work.then(() => true), stopped.then(() => endsWithin(work, limitMs))]);
  } finally {
    over.abort();
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../errors.js';
import { backoffMs, outageBackoff } from './backoff.js';

const attempts = 8;

/** Repeats `work`, which may have been done by then, while a server is too busy to answer. For what no loop repeats. */
export async function patiently<T>(work: () => Promise<T>, may: () => boolean): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || failures === attempts || !may()) throw error;
    }
    await delay(backoffMs(outageBackoff, failures));
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Circle, WaitGraphPorts } from './wait-graph.js';
import { WouldDeadlock } from '../../errors.js';
import { waitsForHandler } from './wait-graph.js';

const shortestPauseMs = 25;
const longestPauseMs = 2_000;

export interface HandlerWait {
  /** The task or lock that is waited for. */
  waiter: string;
  /** The task whose handler waits. */
  asker: string;
}

/**
 * While a handler waits: rejects with WouldDeadlock where that could never end. Each wait is entered before it is looked
 * at, so of two that close a circle the later one sees the other. It is looked at again and again, since what is waited
 * for may come into the queues later. Resolves soon after `signal` aborts.
 */
export async function refuseDeadlock(
  ports: WaitGraphPorts,
  { waiter, asker }: HandlerWait,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = shortestPauseMs;
  while (!signal.aborted) {
    const circle = await circleOf(ports, waiter, asker);
    if (circle !== null) {
      const why = circle.resource === null ? '' : `resource ${JSON.stringify(circle.resource)} and so for `;
      throw new WouldDeadlock(
        `Task ${asker} would wait for ${waiter}, which waits for ${why}task ${asker} itself, directly or through others.`,
      );
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

/** The reads are not of one moment, and a circle stays: only what is found twice is one. An outage finds nothing. */
async function circleOf(ports: WaitGraphPorts, waiter: string, asker: string): Promise<Circle | null> {
  try {
    return (await waitsForHandler(ports, waiter, asker)) && (await waitsForHandler(ports, waiter, asker));
  } catch {
    return null;
  }
}

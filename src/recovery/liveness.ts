import type { ObservedWorker } from '../store/lost-workers.js';

/** How much of a worker's TTL may pass between two reads of its counter; after more, counting begins anew. */
const longestGap = 1 / 3;

interface Watched {
  worker: ObservedWorker;
  /** When the reply to the first read of this counter came, with no gap in the watching since. */
  since: number;
  /** The same, whatever the gaps: proves nothing, but tells who is likely to be there. */
  changedAt: number;
}

/**
 * Tells the dead from the living by their counters alone: dead is who has not beaten for the whole of its own TTL, as
 * this process has watched it, by this process's monotonic clock. What it did not watch proves nothing: after a failed
 * read, or a gap, counting begins anew. Moments are in milliseconds.
 */
export class Liveness {
  readonly #watched = new Map<string, Watched>();
  #lastReply = -Infinity;

  /** What a read of all workers answered, and when its reply came. */
  observe(workers: readonly ObservedWorker[], repliedAt: number): void {
    const gap = repliedAt - this.#lastReply;
    const known = new Map(this.#watched);
    this.#watched.clear();
    for (const worker of workers) {
      const before = known.get(worker.incarnation);
      const stands = before?.worker.counter === worker.counter;
      const watched = stands && gap <= worker.ttlMs * longestGap;
      this.#watched.set(worker.incarnation, {
        worker,
        since: watched ? before.since : repliedAt,
        changedAt: stands ? before.changedAt : repliedAt,
      });
    }
    this.#lastReply = repliedAt;
  }

  /** A read failed. */
  forget(): void {
    this.#watched.clear();
  }

  /** Workers that are dead at this moment and not reaped. */
  deadAt(now: number): ObservedWorker[] {
    const gap = now - this.#lastReply;
    return [...this.#watched.values()]
      .filter(({ worker, since }) => {
        return !worker.reaped && now - since >= worker.ttlMs && gap <= worker.ttlMs * longestGap;
      })
      .map(({ worker }) => worker);
  }

  /** When the next one after `now` will be dead unless it beats; Infinity where there is none. */
  nextDeath(now: number): number {
    const unreaped = [...this.#watched.values()].filter(({ worker }) => !worker.reaped);
    const deaths = unreaped.map(({ worker, since }) => since + worker.ttlMs);
    return Math.min(...deaths.filter((death) => death > now));
  }

  /**
   * Those that seem to live: a guess, for dividing work. It needs no watching without gaps, so that who looks seldom
   * still finds out in time that those who look often are gone.
   */
  likelyAliveAt(now: number): string[] {
    return [...this.#watched.values()]
      .filter(({ worker, changedAt }) => !worker.reaped && now - changedAt < worker.ttlMs)
      .map(({ worker }) => worker.incarnation);
  }

  /** How long to wait between two reads. */
  get periodMs(): number {
    const shortest = Math.min(...[...this.#watched.values()].map(({ worker }) => worker.ttlMs));
    return periodFor(shortest);
  }
}

/**
 * How long to wait between two reads for a worker of this TTL, in milliseconds: at most 5 s, and so that a read that takes
 * a second longer makes no gap.
 */
function periodFor(ttlMs: number): number {
  const roomForSlowReads = ttlMs * longestGap - 1_000;
  return Math.min(5_000, Math.max(ttlMs / 6, Math.min(ttlMs / 4, roomForSlowReads)));
}

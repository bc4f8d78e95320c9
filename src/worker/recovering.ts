import type { Owner } from '../owner.js';
import type { NamedWorker, ObservedWorker } from '../store/lost-workers.js';
import type { Incarnation } from './incarnation.js';
import { ownerText } from '../owner.js';
import { cleanupLocksForWorker } from '../recovery/cleanup-locks-for-worker.js';
import { Liveness } from '../recovery/liveness.js';
import { isAmong } from '../recovery/is-among.js';
import { type OrphanSightings, reconcileOrphanLocks } from '../recovery/reconcile-orphan-locks.js';
import { releaseStaleLocksForSelf } from '../recovery/release-stale-locks-for-self.js';
import { onLoopError } from './incarnation.js';
import { Loop } from './loop.js';

export interface RecoveringOptions {
  incarnation: Incarnation;
  ttlMs: number;
  /** Whether an earlier incarnation of the name is known to be dead. */
  isDead(worker: NamedWorker): Promise<boolean>;
}

/** So many watch every worker; the others look seldom, in case that these die. So many look for orphans. */
const observers = 16;
const orphanObservers = 3;

/** How often those look that only stand by. */
const standbyPeriodMs = 15_000;

/**
 * Cleans up after the dead: after earlier incarnations of its own name when it starts, and then after every worker
 * that stops beating. Observing never waits for cleaning up, which may take long.
 */
export class Recovering {
  readonly #options: RecoveringOptions;
  readonly #liveness = new Liveness();
  readonly #sightings: OrphanSightings = new Map();
  /** Reaped, and not known to be clean. */
  readonly #dead = new Map<string, Owner>();
  #reapedBefore = new Set<string>();
  #selfIsClean = false;
  #watchesOrphans = false;
  readonly #observing: Loop;
  readonly #cleaning: Loop;

  constructor(options: RecoveringOptions) {
    this.#options = options;
    const { log } = options.incarnation;
    this.#observing = new Loop({
      poll: () => this.#observe(),
      onError: (error, failures) => {
        this.#liveness.forget();
        return onLoopError(log, 'observing workers')(error, failures);
      },
    });
    this.#cleaning = new Loop({
      poll: () => this.#cleanUp(),
      onError: (error, failures) => {
        this.#sightings.clear();
        return onLoopError(log, 'cleaning up after dead workers')(error, failures);
      },
    });
  }

  /** Before any task is taken. Never rejects: what fails is tried again at the next observation. */
  async cleanUpForSelf(): Promise<void> {
    const { incarnation, isDead } = this.#options;
    try {
      this.#selfIsClean = await releaseStaleLocksForSelf(incarnation, incarnation.owner, isDead);
    } catch (error) {
      incarnation.log.warn({ err: error }, 'what earlier incarnations held is cleaned up later');
    }
  }

  start(): void {
    this.#observing.start();
    this.#cleaning.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#observing.stop(), this.#cleaning.stop()]);
  }

  async #observe(): Promise<number> {
    const { store, owner } = this.#options.incarnation;
    const workers = await store.observeWorkers();
    const others = workers.filter(({ incarnation }) => incarnation !== owner.incarnation);
    this.#liveness.observe(others, performance.now());
    for (const worker of this.#liveness.deadAt(performance.now())) await this.#reap(worker);
    this.#takeOver(others);
    const living = workers.filter(({ reaped }) => !reaped).map(({ incarnation }) => incarnation);
    this.#watchesOrphans = isAmong(orphanObservers, living, owner.incarnation);
    this.#cleaning.wake();
    if (!isAmong(observers, living, owner.incarnation)) return standbyPeriodMs;
    const untilDeath = Math.max(0, this.#liveness.nextDeath() - performance.now());
    return Math.min(this.#liveness.periodMs, this.#options.ttlMs / 6, untilDeath);
  }

  async #reap(worker: ObservedWorker): Promise<void> {
    const { incarnation: self } = this.#options;
    if (!self.mayAct()) return;
    const { name, incarnation, counter } = worker;
    if ((await self.store.reapWorker(incarnation, counter)) !== 'reaped') return;
    self.log.warn({ dead: name, deadIncarnation: incarnation }, 'a worker has gone missing');
    this.#dead.set(incarnation, { name, incarnation });
  }

  /** Whoever reaps cleans up at once; everybody else when that has not come to its end one observation later. */
  #takeOver(workers: ObservedWorker[]): void {
    const reaped = workers.filter((worker) => worker.reaped);
    for (const { name, incarnation } of reaped) {
      if (this.#reapedBefore.has(incarnation)) this.#dead.set(incarnation, { name, incarnation });
    }
    this.#reapedBefore = new Set(reaped.map(({ incarnation }) => incarnation));
  }

  async #cleanUp(): Promise<number> {
    const { incarnation, ttlMs } = this.#options;
    if (!this.#selfIsClean) await this.cleanUpForSelf();
    for (const [key, owner] of this.#dead) {
      this.#dead.delete(key);
      if (await cleanupLocksForWorker(incarnation, owner)) {
        incarnation.log.info({ owner: ownerText(owner) }, 'cleaned up after a dead worker');
      }
    }
    if (this.#watchesOrphans) await reconcileOrphanLocks(incarnation, this.#sightings, ttlMs);
    else this.#sightings.clear();
    return Infinity;
  }
}

import type { Owner } from '../owner.js';
import type { NamedWorker, ObservedWorker } from '../store/lost-workers.js';
import type { Incarnation } from './incarnation.js';
import { faultPoint } from '../fault-points.js';
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
  /** Whether an earlier incarnation of the name is known to be dead. */
  isDead(worker: NamedWorker): Promise<boolean>;
  /** How often those look that only stand by, in milliseconds. Default 30,000. */
  standbyPeriodMs?: number;
}

/** So many watch every worker; the others look seldom, in case that these die. So many look for orphans. */
const observers = 8;
const orphanObservers = 3;

const defaultStandbyPeriodMs = 30_000;

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
  readonly #reaping = new Map<string, Promise<void>>();
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
      onError: onLoopError(log, 'cleaning up after dead workers'),
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
    await Promise.all(this.#reaping.values());
  }

  async #observe(): Promise<number> {
    const { incarnation: self, standbyPeriodMs = defaultStandbyPeriodMs } = this.#options;
    const { incarnation: own } = self.owner;
    const others = (await self.store.observeWorkers()).filter(({ incarnation }) => incarnation !== own);
    const repliedAt = performance.now();
    this.#liveness.observe(others, repliedAt);
    for (const worker of this.#liveness.deadAt(repliedAt)) this.#beginToReap(worker);
    this.#takeOver(others);
    const living = this.#liveness.likelyAliveAt(repliedAt);
    this.#watchesOrphans = isAmong(orphanObservers, living, own);
    this.#cleaning.wake();
    if (!isAmong(observers, living, own)) return standbyPeriodMs;
    const next = Math.min(repliedAt + this.#liveness.periodMs, this.#liveness.nextDeath(repliedAt));
    return Math.max(0, next - performance.now());
  }

  /** Nobody waits for it: one whose row is locked must keep neither the others back nor the next read. */
  #beginToReap(worker: ObservedWorker): void {
    const { incarnation } = worker;
    if (this.#reaping.has(incarnation)) return;
    const reaped = this.#reap(worker).finally(() => this.#reaping.delete(incarnation));
    this.#reaping.set(incarnation, reaped);
  }

  /** Never rejects. One that fails is tried again at the next observation. */
  async #reap(worker: ObservedWorker): Promise<void> {
    const { incarnation: self } = this.#options;
    if (!self.mayAct()) return;
    const { name, incarnation, counter } = worker;
    const fields = { dead: name, deadIncarnation: incarnation };
    try {
      if ((await self.store.reapWorker(incarnation, counter)) !== 'reaped') return;
    } catch (error) {
      self.log.error({ err: error, ...fields }, 'a worker that has gone missing could not be declared dead');
      return;
    }
    faultPoint('dead-reaped');
    self.log.warn(fields, 'a worker has gone missing');
    this.#dead.set(incarnation, { name, incarnation });
    this.#cleaning.wake();
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
    const { incarnation } = this.#options;
    if (!this.#selfIsClean) await this.cleanUpForSelf();
    for (const [key, owner] of this.#dead) {
      this.#dead.delete(key);
      if (await cleanupLocksForWorker(incarnation, owner)) {
        incarnation.log.info({ owner: ownerText(owner) }, 'cleaned up after a dead worker');
      }
    }
    if (this.#watchesOrphans) await reconcileOrphanLocks(incarnation, this.#sightings);
    else this.#sightings.clear();
    return Infinity;
  }
}

import type { TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { Offer } from './served-lanes.js';
import {
  admissionPass,
  firstPassSize,
  firstPlace,
  nextPassSize,
  type PassOutcome,
} from './admission-pass.js';
import { parseLane } from '../lane.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { onLoopError } from './incarnation.js';
import { Loop } from './loop.js';
import { servedLanes } from './served-lanes.js';
import { UnservedLanes } from './unserved-lanes.js';

/** How often the store is asked whether admission has work, in milliseconds, where nothing wakes it. */
const pollMs = 1_700;

/**
 * While another process has the lock of admission. That one goes on while it finds tasks; but what this one was
 * woken for may have come too late for a pass that is about to end. After these attempts somebody must have seen it.
 */
const busyPausesMs = [25, 75, 150];

/** Then, and without a wake-up: not so seldom that the lock of one that froze lies idle, nor so often that a fleet queues. */
const busyPollMs = 500;
const otherPauseMs = 250;

/**
 * How long passes go on from where the one before ended, in milliseconds. Rows of earlier places come in late, by long
 * transactions or with more resources: however long the rest of the queue is, they must not wait for its end.
 */
const goOnMs = 2_000;

/** Many retries share one timer: at most one per step of this grid. */
const timerGridMs = 50;
const longestTimerMs = 60_000;

/** How long what the workers serve is taken for known, in milliseconds. */
const offersKeptMs = 1_000;

/**
 * Admits tasks to the lock table. Any process can do it, one at a time does: one that is killed or frozen in its
 * pass loses the lock within a second, and the next poll of any other goes on.
 */
export class AdmissionLoop {
  readonly #incarnation: Incarnation;
  readonly #own: Offer;
  readonly #loop: Loop;
  #offers: { offers: Offer[]; readAt: number } | null = null;
  #takeOuts: { epoch: string; tasks: TaskEntry[] } | null = null;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #stopped = false;
  #woken = false;
  #busy = 0;
  #next = firstPlace;
  #epoch: string | null = null;
  #fromFirstAt = 0;
  readonly #unserved: UnservedLanes;
  #overdue: string[] = [];
  #passSize = firstPassSize;

  /** `ttlMs`: after so long what is reserved for a lane that nobody serves makes room. */
  constructor(incarnation: Incarnation, own: Offer, ttlMs: number) {
    this.#incarnation = incarnation;
    this.#unserved = new UnservedLanes(ttlMs);
    this.#own = own;
    this.#loop = new Loop({
      poll: () => inCurrentEpoch(incarnation, (epoch) => this.#round(epoch)),
      onError: onLoopError(incarnation.log, 'admission'),
    });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#woken = true;
    this.#loop.wake();
  }

  /** A task will be due then. Beyond a minute the poll finds it. */
  wakeIn(delayMs: number): void {
    if (delayMs > longestTimerMs || this.#stopped) return;
    const at = Math.ceil((performance.now() + delayMs) / timerGridMs) * timerGridMs;
    if (this.#timers.has(at)) return;
    const ring = (): void => {
      this.#timers.delete(at);
      this.wake();
    };
    this.#timers.set(at, setTimeout(ring, at - performance.now()));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await this.#loop.stop();
  }

  async #round(epoch: string): Promise<number> {
    // Its table is empty: everything comes in anew, in order of place.
    if (epoch !== this.#epoch) this.#next = firstPlace;
    this.#epoch = epoch;
    await this.#takeOutRefused(epoch);
    const woken = this.#woken;
    this.#woken = false;
    const need = woken ? 'needed' : await this.#need(epoch);
    if (need === 'nothing') return this.#idle();
    if (need === 'busy-elsewhere') return this.#tryAgain(woken);
    const outcome = await this.#pass(epoch, await this.#servingOffers());
    if (outcome.status === 'busy-elsewhere') return this.#tryAgain(woken);
    this.#busy = 0;
    if (outcome.status === 'epoch') this.#incarnation.epoch.refused(epoch);
    if (outcome.status !== 'done') return otherPauseMs;
    const goesOn = outcome.next !== null && performance.now() - this.#fromFirstAt < goOnMs;
    this.#next = goesOn ? (outcome.next ?? firstPlace) : firstPlace;
    if (outcome.takeOuts.length > 0) this.#takeOuts = { epoch, tasks: outcome.takeOuts };
    if (outcome.next !== null) this.#woken = true;
    // What was dispatched during a pass may have woken another process, which found the lock taken.
    return outcome.admitted > 0 || this.#woken || this.#takeOuts !== null ? 0 : this.#idle();
  }

  /** The lanes of others are for their own polls: each lane that is served has somebody who asks. */
  async #need(epoch: string): Promise<'nothing' | 'needed' | 'busy-elsewhere'> {
    const { lanes, admitted, due, takeOuts, rollbacksOver, free } =
      await this.#incarnation.store.admissionNeeded(epoch);
    this.#overdue = this.#unserved.overdue(await this.#unservedAmong(admitted), performance.now());
    const anybodys = due || takeOuts || rollbacksOver || this.#overdue.length > 0;
    if (!anybodys && servedLanes(lanes, [this.#own]).length === 0) return 'nothing';
    // null: it was not looked at, for a lane that nobody serves.
    return free === false ? 'busy-elsewhere' : 'needed';
  }

  /** But for the lanes of ad-hoc locks, which end with their requesters. */
  async #unservedAmong(lanes: string[]): Promise<string[]> {
    const ofOthers = without(lanes, servedLanes(lanes, [this.#own])).filter(
      (lane) => parseLane(lane).requester === undefined,
    );
    return ofOthers.length === 0 ? [] : without(ofOthers, servedLanes(ofOthers, await this.#servingOffers()));
  }

  #tryAgain(woken: boolean): number {
    const pauseMs = woken ? busyPausesMs[this.#busy] : undefined;
    this.#busy = pauseMs === undefined ? 0 : this.#busy + 1;
    if (pauseMs === undefined) return spread(busyPollMs);
    this.#woken = true;
    return pauseMs;
  }

  async #pass(epoch: string, offers: Offer[]): Promise<PassOutcome> {
    if (this.#next === firstPlace) this.#fromFirstAt = performance.now();
    const request = {
      ...{ epoch, afterPlace: this.#next, offers, unserved: this.#overdue },
      limit: Math.floor(this.#passSize),
    };
    try {
      const outcome = await admissionPass(this.#incarnation, request);
      if (outcome.status === 'done') this.#passSize = nextPassSize(this.#passSize, 'done');
      return outcome;
    } catch (error) {
      this.#passSize = nextPassSize(this.#passSize, 'failed');
      throw error;
    }
  }

  #idle(): number {
    this.#busy = 0;
    return spread(pollMs);
  }

  async #takeOutRefused(epoch: string): Promise<void> {
    const refused = this.#takeOuts;
    this.#takeOuts = null;
    if (refused === null || refused.epoch !== epoch) return;
    try {
      await this.#incarnation.table.takeOut(epoch, refused.tasks);
    } catch (error) {
      this.#takeOuts = refused;
      throw error;
    }
  }

  /** Read before the pass: its transaction may have the only connection. */
  async #servingOffers(): Promise<Offer[]> {
    if (this.#offers === null || performance.now() - this.#offers.readAt > offersKeptMs) {
      const readAt = performance.now();
      this.#offers = { offers: await this.#incarnation.store.servingWorkers(), readAt };
    }
    return [this.#own, ...this.#offers.offers];
  }
}

function without(lanes: readonly string[], others: readonly string[]): string[] {
  return lanes.filter((lane) => !others.includes(lane));
}

/** A little less, at random: the polls of a fleet are not all at the same time. */
function spread(pauseMs: number): number {
  return pauseMs * (0.9 + Math.random() / 10);
}

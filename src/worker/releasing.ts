import type { ReleaseAnswer } from '../locks/lock-table.js';
import type { TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { KnownHolds } from './known-holds.js';
import { faultPoint } from '../fault-points.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';

/** A hold whose (task, entry) is over in the store, and what to tell once it is gone. */
export interface OverHold extends TaskEntry {
  /** The task is in a final state: those who wait for it are told. */
  settled: boolean;
  /** The task waits with a later entry that admission could not enter beside this hold. */
  waits: boolean;
  /** Called once nothing of it is left in the table. */
  onGone?(): void;
}

const holdsPerCall = 500;

/**
 * Releases holds whose (task, entry) is over, and goes on until it is done: across outages, reconnects and
 * epochs. A new epoch may hold what the store called running when it was built, so it is released there too.
 */
export class Releasing {
  readonly #incarnation: Incarnation;
  readonly #known: KnownHolds;
  readonly #pending = new Map<string, OverHold>();
  readonly #loop: Loop;

  constructor(incarnation: Incarnation, known: KnownHolds) {
    this.#incarnation = incarnation;
    this.#known = known;
    this.#loop = new Loop({
      poll: () => this.#round(),
      onError: onLoopError(incarnation.log, 'releasing holds'),
    });
  }

  get pending(): number {
    return this.#pending.size;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  add(holds: readonly OverHold[]): void {
    for (const hold of holds) {
      this.#known.remember(hold, 'releasing');
      this.#pending.set(holdKey(hold), hold);
    }
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    const batch = [...this.#pending.values()].slice(0, holdsPerCall);
    if (batch.length === 0) return Infinity;
    const { owner, table } = this.#incarnation;
    const owned = batch.map(({ task, entry }) => ({ task, entry, owner }));
    const answers = await inCurrentEpoch(this.#incarnation, (epoch) => table.release(epoch, owned));
    faultPoint(batch.some((hold) => hold.waits) ? 'retry-released' : 'released');
    this.#done(batch, answers);
    const settled = batch.filter((hold) => hold.settled).map((hold) => hold.task);
    if (settled.length > 0) void table.announceSettled(settled);
    if (batch.some((hold) => hold.waits)) void table.wakeAdmission();
    return 0;
  }

  /** `stale`: the hold is another's by now; `gone`: there is none. Either way nothing of this one is left. */
  #done(batch: OverHold[], answers: ReleaseAnswer[]): void {
    for (const [index, hold] of batch.entries()) {
      const { task, entry } = hold;
      if (answers[index] !== 'released') {
        this.#incarnation.log.debug({ task, entry, answer: answers[index] }, 'nothing was left to release');
      }
      this.#pending.delete(holdKey(hold));
      this.#known.forget(hold);
      hold.onGone?.();
    }
  }
}

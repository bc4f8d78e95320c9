import type { TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { KnownHolds } from './known-holds.js';
import type { Releasing } from './releasing.js';
import { faultPoint } from '../fault-points.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';

/** Something that this incarnation inserted for itself, of which nothing is to be left. */
export interface Discard extends TaskEntry {
  /** The number of its insert, where the reply to that was lost: it is made impossible first. Else null. */
  lostInsert: number | null;
  /** Called once neither store has anything of it, but for a request that waited: admission takes that out. */
  onGone?(): void;
}

const discardsPerCall = 500;

/**
 * Ends ad-hoc locks, and what was inserted as running and never began: first the row goes, and can never come again;
 * then the hold is released. Goes on until it is done, across outages and epochs.
 */
export class Discarding {
  readonly #incarnation: Incarnation;
  readonly #known: KnownHolds;
  readonly #releasing: Releasing;
  readonly #pending = new Map<string, Discard>();
  readonly #loop: Loop;

  constructor(incarnation: Incarnation, known: KnownHolds, releasing: Releasing) {
    this.#incarnation = incarnation;
    this.#known = known;
    this.#releasing = releasing;
    this.#loop = new Loop({
      poll: () => this.#round(),
      onError: onLoopError(incarnation.log, 'discarding locks'),
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

  add(discards: readonly Discard[]): void {
    for (const discard of discards) {
      const { lostInsert = null, onGone } = this.#pending.get(holdKey(discard)) ?? {};
      this.#known.remember(discard, 'discarding');
      this.#pending.set(holdKey(discard), {
        ...(onGone && { onGone }),
        ...discard,
        lostInsert: discard.lostInsert ?? lostInsert,
      });
    }
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    const batch = [...this.#pending.values()].slice(0, discardsPerCall);
    if (batch.length === 0) return Infinity;
    if (!(await this.#discard(batch))) {
      this.#incarnation.fence('it was reaped');
      return Infinity;
    }
    faultPoint('lock-row-deleted');
    for (const discard of batch) {
      // Added once more meanwhile, with a number perhaps: that is for the next round.
      if (this.#pending.get(holdKey(discard)) !== discard) continue;
      this.#pending.delete(holdKey(discard));
      const { task, entry, onGone } = discard;
      this.#releasing.add([{ task, entry, settled: false, waits: false, ...(onGone && { onGone }) }]);
    }
    return 0;
  }

  /** False for a reaped one: whoever sweeps it has all of this. */
  async #discard(batch: readonly Discard[]): Promise<boolean> {
    const { store, owner } = this.#incarnation;
    const lost = batch.flatMap(({ lostInsert }) => lostInsert ?? []);
    // Between the two calls nothing can come in any more, so what the second finds is all there will ever be.
    if (lost.length > 0 && (await store.voidInserts(owner.incarnation, Math.max(...lost))) === 'reaped') {
      return false;
    }
    const ids = batch.map(({ task }) => task);
    return (await store.discardTasks(owner.incarnation, ids)) === 'discarded';
  }
}

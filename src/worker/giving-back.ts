import type { Move } from '../locks/lock-table.js';
import type { GiveBack as StoreGiveBack, TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import type { KnownHolds } from './known-holds.js';
import type { OverHold, Releasing } from './releasing.js';
import { faultPoint } from '../fault-points.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { onLoopError } from './incarnation.js';
import { holdKey } from './known-holds.js';
import { Loop } from './loop.js';

/**
 * What becomes of the hold once the entry is raised. `move`: it goes on under the new entry, locks and place kept.
 * `release`: the new entry comes in anew, because it needs other resources or may not run yet.
 */
export type AfterGiveBack = 'move' | 'release';

type GiveBack = StoreGiveBack & { after: AfterGiveBack };

const tasksPerCall = 500;

/**
 * Gives tasks back: raises the entry in the store, which kills every late call about the old one, and only then
 * moves or releases the hold. Goes on until it is done, across outages and epochs. What is in doubt ends here: it
 * is never taken up again.
 */
export class GivingBack {
  readonly #incarnation: Incarnation;
  readonly #known: KnownHolds;
  readonly #releasing: Releasing;
  readonly #raises = new Map<string, GiveBack>();
  readonly #moves = new Map<string, Move>();
  readonly #loops: Loop[];

  constructor(incarnation: Incarnation, known: KnownHolds, releasing: Releasing) {
    this.#incarnation = incarnation;
    this.#known = known;
    this.#releasing = releasing;
    const { log } = incarnation;
    this.#loops = [
      new Loop({ poll: () => this.#raise(), onError: onLoopError(log, 'giving tasks back') }),
      new Loop({ poll: () => this.#move(), onError: onLoopError(log, 'moving holds of tasks given back') }),
    ];
  }

  get pending(): number {
    return this.#raises.size + this.#moves.size;
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  add(tasks: readonly StoreGiveBack[], after: AfterGiveBack): void {
    for (const { task, entry, rollBack = false } of tasks) {
      const giveBack = { task, entry, after, rollBack };
      this.#known.remember(giveBack, 'giving-back');
      this.#raises.set(holdKey(giveBack), giveBack);
    }
    this.#wake();
  }

  /** The store has raised its entry to this one, and under it the task keeps its locks: it is to be rolled back. */
  goesOn({ task, entry }: TaskEntry, nextEntry: number): void {
    this.#known.remember({ task, entry }, 'giving-back');
    this.#moves.set(holdKey({ task, entry }), { task, entry, nextEntry, owner: this.#incarnation.owner });
    this.#wake();
  }

  /**
   * Holds whose entries are over for this worker, by a call whose reply was lost. G1: where the task is to be rolled back
   * now, its locks must not be let go; all others are released.
   */
  async goesOnOrIsOver(holds: readonly OverHold[]): Promise<void> {
    const rollbacks = await this.#incarnation.store.rollbacksAmong(holds.map(({ task }) => task));
    const entries = new Map(rollbacks.map(({ task, entry }) => [task, entry]));
    for (const hold of holds) {
      const entry = entries.get(hold.task) ?? 0;
      if (entry > hold.entry) this.goesOn(hold, entry);
      else this.#releasing.add([hold]);
    }
  }

  #wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  async #raise(): Promise<number> {
    const batch = [...this.#raises.values()].slice(0, tasksPerCall);
    if (batch.length === 0) return Infinity;
    const { store, owner, log } = this.#incarnation;
    const outcomes = await store.giveBackTasks(owner.incarnation, batch);
    faultPoint('given-back');
    const given = new Map(outcomes.map((outcome) => [holdKey(outcome), outcome]));
    const refused: GiveBack[] = [];
    const canceled: GiveBack[] = [];
    for (const giveBack of batch) {
      const { nextEntry, rollsBack = false, paused = false } = given.get(holdKey(giveBack)) ?? {};
      if (nextEntry === 'canceled') canceled.push(giveBack);
      else if (typeof nextEntry !== 'number') refused.push(giveBack);
      else {
        log.info({ ...giveBack, nextEntry }, 'gave a task back');
        this.#raised(paused ? { ...giveBack, after: 'release' } : giveBack, nextEntry, rollsBack);
      }
    }
    this.#canceled(canceled);
    if (refused.length > 0) await this.#afterRefusal(refused);
    this.#wake();
    return 0;
  }

  #raised(giveBack: GiveBack, nextEntry: number, rollsBack: boolean): void {
    const { task, entry, after } = giveBack;
    this.#raises.delete(holdKey(giveBack));
    if (after === 'move' || rollsBack) this.goesOn(giveBack, nextEntry);
    else this.#releasing.add([{ task, entry, settled: false, waits: true }]);
  }

  #canceled(canceled: GiveBack[]): void {
    for (const giveBack of canceled) this.#raises.delete(holdKey(giveBack));
    this.#releasing.add(canceled.map(({ task, entry }) => ({ task, entry, settled: true, waits: false })));
  }

  /**
   * Refused by a worker that is not reaped, (task, entry) is over. The hold of a reaped one belongs to whoever sweeps it.
   */
  async #afterRefusal(refused: GiveBack[]): Promise<void> {
    const { store, owner } = this.#incarnation;
    if ((await store.beat(owner.incarnation)) === 'reaped') return this.#incarnation.fence('it was reaped');
    await this.goesOnOrIsOver(
      refused.map(({ task, entry }) => ({ task, entry, settled: false, waits: true })),
    );
    for (const giveBack of refused) this.#raises.delete(holdKey(giveBack));
  }

  async #move(): Promise<number> {
    const batch = [...this.#moves.values()].slice(0, tasksPerCall);
    if (batch.length === 0) return Infinity;
    const { table } = this.#incarnation;
    // In an epoch that was built before the entry was raised the hold is there too; in a later one it is `gone`,
    // and the task comes in by admission.
    await inCurrentEpoch(this.#incarnation, (epoch) => table.move(epoch, batch));
    faultPoint('given-back-and-moved');
    for (const move of batch) {
      this.#moves.delete(holdKey(move));
      this.#known.forget(move);
    }
    void table.wakeAdmission();
    return 0;
  }
}

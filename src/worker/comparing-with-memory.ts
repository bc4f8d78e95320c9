import type { RegistryEntry } from '../locks/lock-table.js';
import type { TaskEntry } from '../store/store.js';
import type { Claiming } from './claiming.js';
import type { GivingBack } from './giving-back.js';
import type { Incarnation } from './incarnation.js';
import type { KnownHolds } from './known-holds.js';
import { inCurrentEpoch } from '../recovery/in-current-epoch.js';
import { holdKey } from './known-holds.js';

export interface ComparingOptions {
  incarnation: Incarnation;
  known: KnownHolds;
  claiming: Pick<Claiming, 'quietly' | 'storeClaims'>;
  /** What becomes of what was found unknown twice. */
  givingBack: Pick<GivingBack, 'add'>;
  /** Stops the attempts that are being canceled. */
  cancel(holds: readonly TaskEntry[]): void;
}

const holdsPerPage = 1_000;

/** An idle worker cannot run anything that it does not know of; it looks all the same, every so many beats. */
const idleBeats = 12;

/**
 * Compares, at each beat, what the table and the store say that this worker has with what it knows. What two
 * successive comparisons found unknown, while no claim was under way, came from a call whose reply was lost: it is
 * given back. The first finding alone may be a hold that came to its end between the reading and the comparing.
 */
export class ComparingWithMemory {
  readonly #options: ComparingOptions;
  #suspects = new Set<string>();
  #underWay = false;
  #idle = { storeClaims: -1, beats: 0 };

  constructor(options: ComparingOptions) {
    this.#options = options;
  }

  /** At a confirmed beat. Never rejects; one that comes in while another is under way is left out. */
  async compare(): Promise<void> {
    if (this.#underWay) return;
    this.#underWay = true;
    try {
      const { claiming, incarnation } = this.#options;
      await claiming.quietly(() => inCurrentEpoch(incarnation, (epoch) => this.#compareIn(epoch)));
    } catch (error) {
      this.#options.incarnation.log.warn({ err: error }, 'holds could not be compared with memory');
    } finally {
      this.#underWay = false;
    }
  }

  /**
   * At a confirmed beat. Whoever canceled a task has announced it; this finds what was not heard, also while the table
   * is out of reach. Never rejects.
   */
  async hearCancels(): Promise<void> {
    const { incarnation, known, cancel } = this.#options;
    if (known.size === 0) return;
    try {
      const running = await incarnation.store.runningOf(incarnation.owner.incarnation);
      cancel(running.filter(({ canceling }) => canceling));
    } catch (error) {
      incarnation.log.warn({ err: error }, 'the store could not be asked for cancels');
    }
  }

  async #compareIn(epoch: string): Promise<void> {
    const { incarnation, known, givingBack, claiming } = this.#options;
    await this.#continuePromotions(epoch);
    const registry = await this.#registry(epoch);
    const running = await this.#runningRows();
    const held: TaskEntry[] = registry.map(({ task, entry }) => ({ task, entry: entry ?? noEntry }));
    const found = new Map([...held, ...running].map((hold) => [holdKey(hold), hold]));
    const unknown = [...found.values()].filter((hold) => !known.has(hold));
    const twice = unknown.filter((hold) => this.#suspects.has(holdKey(hold)));
    this.#suspects = new Set(unknown.map(holdKey));
    if (found.size === 0 && known.size === 0) this.#idle.storeClaims = claiming.storeClaims;
    if (twice.length === 0 || !incarnation.mayAct()) return;
    incarnation.log.warn({ tasks: twice, epoch }, 'gives back what came from calls whose replies were lost');
    givingBack.add(twice, 'move');
  }

  /** A bounded call may have left promotions to do that no claim comes by for. */
  async #continuePromotions(epoch: string): Promise<void> {
    while ((await this.#options.incarnation.table.continuePromotions(epoch)) > 0);
  }

  async #registry(epoch: string): Promise<RegistryEntry[]> {
    const { table, owner } = this.#options.incarnation;
    const entries: RegistryEntry[] = [];
    let after: string | null = null;
    for (;;) {
      const page: RegistryEntry[] = await table.readRegistry(epoch, owner, { after, limit: holdsPerPage });
      entries.push(...page);
      after = page.at(-1)?.task ?? null;
      if (after === null || page.length < holdsPerPage) return entries;
    }
  }

  async #runningRows(): Promise<TaskEntry[]> {
    const { incarnation, known, claiming } = this.#options;
    const idle = known.size === 0 && claiming.storeClaims === this.#idle.storeClaims;
    this.#idle.beats = idle ? this.#idle.beats + 1 : 0;
    if (idle && this.#idle.beats % idleBeats !== 0) return [];
    return incarnation.store.runningOf(incarnation.owner.incarnation);
  }
}

/** A registry may name a task without a hold of this owner: no entry of it can be running, and a release drops it. */
const noEntry = 0;

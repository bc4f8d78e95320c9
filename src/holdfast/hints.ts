import type { LockTable } from '../locks/lock-table.js';
import type { Backend } from './backend.js';

type Hint = (table: LockTable) => Promise<void>;

/** Tells other processes what the store has decided, as far as the lock table can be reached; nobody waits for it. */
export class Hints {
  readonly #backend: Pick<Backend, 'announcingTable'>;
  readonly #underWay = new Set<Promise<void>>();

  constructor(backend: Pick<Backend, 'announcingTable'>) {
    this.#backend = backend;
  }

  give(hint: Hint): void {
    const given = this.#give(hint).finally(() => this.#underWay.delete(given));
    this.#underWay.add(given);
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #give(hint: Hint): Promise<void> {
    try {
      const table = await this.#backend.announcingTable();
      if (table !== null) await hint(table);
    } catch {
      // Whoever it concerns polls the store besides.
    }
  }
}

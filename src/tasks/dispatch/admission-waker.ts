import type { LockTable } from '../../locks/lock-table.js';

/**
 * Wakes admission after commits, beside the dispatches that need it: however many commit while one wake-up is
 * under way, one more follows. A dispatch never waits for the lock table, which may be out of reach.
 */
export class AdmissionWaker {
  readonly #table: Pick<LockTable, 'wakeAdmission'>;
  #again = false;
  #waking: Promise<void> | null = null;

  constructor(table: Pick<LockTable, 'wakeAdmission'>) {
    this.#table = table;
  }

  /** A wake-up that starts after this call will reach the table, as far as that can be reached. */
  wake(): void {
    if (this.#waking === null) this.#waking = this.#wakeUntilDone();
    else this.#again = true;
  }

  /** Resolves when no wake-up is under way. */
  async idle(): Promise<void> {
    await this.#waking;
  }

  async #wakeUntilDone(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#table.wakeAdmission();
      } while (this.#again);
    } catch {
      // A hint only: the slow poll of admission finds the tasks.
    } finally {
      this.#waking = null;
    }
  }
}

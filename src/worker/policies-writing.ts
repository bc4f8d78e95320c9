import type { Policies, TaskEntry } from '../store/store.js';
import type { Incarnation } from './incarnation.js';
import { OneAtATime } from './one-at-a-time.js';

type TaskPolicies = TaskEntry & { policies: Policies };

/**
 * Writes the policies of tasks that were dispatched without any (from SQL, say): what comes in while a call is
 * under way goes with the next one.
 */
export class PoliciesWriting {
  readonly #incarnation: Incarnation;
  readonly #calls = new OneAtATime();
  readonly #failed = new Set<TaskPolicies>();
  #next: TaskPolicies[] = [];

  constructor(incarnation: Incarnation) {
    this.#incarnation = incarnation;
  }

  /** Never rejects. Resolves with whether they are stored: the row needs its policies where this worker is lost. */
  async write(policies: TaskPolicies): Promise<boolean> {
    this.#next.push(policies);
    await this.#calls.run(() => this.#writeNext());
    return !this.#failed.delete(policies);
  }

  async #writeNext(): Promise<void> {
    const batch = this.#next;
    this.#next = [];
    if (batch.length === 0) return;
    const { store, owner, log } = this.#incarnation;
    try {
      await store.writePolicies(owner.incarnation, batch);
    } catch (error) {
      for (const policies of batch) this.#failed.add(policies);
      log.warn({ err: error, tasks: batch.map(({ task }) => task) }, 'policies could not be stored');
    }
  }
}

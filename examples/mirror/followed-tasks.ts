import type { Holdfast, Task } from 'holdfast';

/** Follows tasks from their dispatch to their end. */
export class FollowedTasks {
  readonly #hf: Holdfast;
  readonly #settled: Task[] = [];
  readonly #waits = new Map<string, Promise<void>>();
  #followed = 0;

  constructor(hf: Holdfast) {
    this.#hf = hf;
  }

  /** How many were followed in all. */
  get followed(): number {
    return this.#followed;
  }

  /** Those that have ended, in order of their ends. */
  get settled(): readonly Task[] {
    return this.#settled;
  }

  follow(tasks: readonly Pick<Task, 'id'>[]): void {
    for (const { id } of tasks) {
      const wait = this.#wait(id);
      // What ends a wait early is thrown to whoever waits below; until then it is nobody's.
      wait.catch(() => {});
      this.#followed += 1;
      this.#waits.set(id, wait);
    }
  }

  /** Resolves when fewer than `limit` have not ended. */
  async fewerThan(limit: number): Promise<void> {
    while (this.#waits.size >= limit) await Promise.race(this.#waits.values());
  }

  async #wait(id: string): Promise<void> {
    this.#settled.push(await this.#hf.wait(id));
    this.#waits.delete(id);
  }
}

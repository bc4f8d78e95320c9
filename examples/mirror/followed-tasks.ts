import type { Holdfast, Task } from 'holdfast';

const stallMs = 60_000;

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

  /** Resolves when fewer than `limit` have not ended. Throws where none ends for a minute. */
  async fewerThan(limit: number): Promise<void> {
    while (this.#waits.size >= limit) {
      const first = await firstWithin(stallMs, [...this.#waits.values()]);
      if (first === 'late')
        throw new Error(`No task has ended for a minute; ${this.#waits.size} wait or run.`);
    }
  }

  async #wait(id: string): Promise<void> {
    this.#settled.push(await this.#hf.wait(id));
    this.#waits.delete(id);
  }
}

async function firstWithin(ms: number, promises: Promise<void>[]): Promise<'late' | void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  return await Promise.race([...promises, late]).finally(() => clearTimeout(timer));
}

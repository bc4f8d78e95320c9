import type { TaskEntry } from '../store/store.js';

/** What this process is about to do with a hold that it knows. */
export type HoldStage = 'claiming' | 'running' | 'giving-back' | 'discarding' | 'releasing';

/**
 * The memory of one incarnation: every (task, entry) that it has claimed and not yet brought to an end. What its
 * registry or its running rows name besides came from a call whose reply was lost.
 */
export class KnownHolds {
  readonly #stages = new Map<string, HoldStage>();

  get size(): number {
    return this.#stages.size;
  }

  has(hold: TaskEntry): boolean {
    return this.#stages.has(holdKey(hold));
  }

  stageOf(hold: TaskEntry): HoldStage | null {
    return this.#stages.get(holdKey(hold)) ?? null;
  }

  remember(hold: TaskEntry, stage: HoldStage): void {
    this.#stages.set(holdKey(hold), stage);
  }

  forget(hold: TaskEntry): void {
    this.#stages.delete(holdKey(hold));
  }
}

/** (task, entry) as one text. */
export function holdKey(hold: TaskEntry): string {
  return `${hold.entry}:${hold.task}`;
}

import type { LockTable } from '../../locks/lock-table.js';
import type { Store } from '../../store/store.js';
import { Unavailable } from '../../errors.js';

export interface WatchPorts {
  store: Pick<Store, 'settledAmong'>;
  table: Pick<LockTable, 'onSettled'>;
}

export interface WatchPace {
  /** The first pause between two polls, in milliseconds; doubled while nothing settles. Default 50. */
  shortestMs: number;
  /** The longest pause. Default 2,000: how late an answer may be when announcements are lost. */
  longestMs: number;
}

/** `stopped`: nobody watches any longer. */
export type Noticed = 'may-have-settled' | 'stopped';

/** Ids asked for in one query. */
const idsPerQuery = 1_000;

/**
 * Learns when tasks settle, for all who wait in this process at once. The lock table's announcements are hints;
 * a poll of the store, whose pauses grow, finds what they missed. Nothing runs while nobody waits.
 */
export class SettlementWatch {
  readonly #store: WatchPorts['store'];
  readonly #stopListening: () => void;
  readonly #pace: WatchPace;
  readonly #waiting = new Map<string, Set<(noticed: Noticed) => void>>();
  #timer: NodeJS.Timeout | null = null;
  #pauseMs: number;
  #polling = false;
  #stopped = false;

  constructor({ store, table }: WatchPorts, pace: WatchPace = { shortestMs: 50, longestMs: 2_000 }) {
    this.#store = store;
    this.#pace = pace;
    this.#pauseMs = pace.shortestMs;
    this.#stopListening = table.onSettled((tasks) => {
      for (const task of tasks) this.#notice(task, 'may-have-settled');
    });
  }

  /** Calls `listener` at most once, until the returned function is called. */
  watch(task: string, listener: (noticed: Noticed) => void): () => void {
    if (this.#stopped) throw new Unavailable('This Holdfast is closed; nothing can be waited for.');
    const listeners = this.#waiting.get(task) ?? new Set();
    this.#waiting.set(task, listeners.add(listener));
    this.#pauseMs = this.#pace.shortestMs;
    this.#schedule();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#waiting.get(task) === listeners) this.#waiting.delete(task);
      if (this.#waiting.size === 0) this.#unschedule();
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening();
    for (const task of this.#waiting.keys()) this.#notice(task, 'stopped');
  }

  #notice(task: string, noticed: Noticed): void {
    const listeners = this.#waiting.get(task);
    if (listeners === undefined) return;
    this.#waiting.delete(task);
    if (this.#waiting.size === 0) this.#unschedule();
    for (const listener of listeners) listener(noticed);
  }

  /** A poll that is sooner than the one planned takes its place. */
  #schedule(): void {
    if (this.#polling || this.#waiting.size === 0) return;
    this.#unschedule();
    this.#timer = setTimeout(() => void this.#poll(), this.#pauseMs);
  }

  #unschedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #poll(): Promise<void> {
    this.#timer = null;
    this.#polling = true;
    const settled = await this.#settledNow();
    this.#polling = false;
    this.#pauseMs =
      settled.length > 0 ? this.#pace.shortestMs : Math.min(2 * this.#pauseMs, this.#pace.longestMs);
    for (const task of settled) this.#notice(task, 'may-have-settled');
    this.#schedule();
  }

  async #settledNow(): Promise<string[]> {
    const ids = [...this.#waiting.keys()];
    const settled: string[] = [];
    try {
      for (let start = 0; start < ids.length; start += idsPerQuery) {
        settled.push(...(await this.#store.settledAmong(ids.slice(start, start + idsPerQuery))));
      }
    } catch {
      // An outage ends no wait: the next poll asks again, and each wait has its own time limit.
    }
    return settled;
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Wake } from '../lock-table.js';
import type { BlockingConnection } from './blocking-connection.js';
import { admissionWakeKey, laneWakeKey } from './keys.js';

export interface WakeWaitsSettings {
  namespace: string;
  commandLimitMs: number;
  open: () => BlockingConnection;
  /** Passes a wake-up on that came too late for who waited; `lane` null: for admission. */
  passOn: (epoch: string, lane: string | null) => Promise<void>;
}

const pauseAfterFailureMs = 500;

/**
 * Waits for wake-ups, each on a connection of its own that later waits use again. The server hands one pushed
 * wake-up to the one that waits longest.
 */
export class WakeWaits {
  readonly #settings: WakeWaitsSettings;
  readonly #idle: BlockingConnection[] = [];
  readonly #open = new Set<BlockingConnection>();
  readonly #stopping = new AbortController();

  constructor(settings: WakeWaitsSettings) {
    this.#settings = settings;
  }

  async wait(epoch: string, lanes: string[], timeoutMs: number, signal: AbortSignal): Promise<Wake> {
    if (this.#stopping.signal.aborted || signal.aborted) return 'timeout';
    const { namespace, passOn } = this.#settings;
    const lists = [admissionWakeKey(namespace), ...lanes.map((lane) => laneWakeKey(namespace, epoch, lane))];
    const list = await this.#pop(lists, timeoutMs, signal);
    if (list === null) return 'timeout';
    const lane = lanes[lists.indexOf(list) - 1] ?? null;
    if (signal.aborted) {
      await passOn(epoch, lane);
      return 'timeout';
    }
    return lane === null ? 'admission' : 'claim';
  }

  /** Ends all waits. */
  stop(): void {
    this.#stopping.abort();
    for (const connection of this.#open) connection.close();
    this.#open.clear();
    this.#idle.length = 0;
  }

  async #pop(lists: string[], timeoutMs: number, signal: AbortSignal): Promise<string | null> {
    let connection: BlockingConnection | undefined;
    try {
      connection = this.#idle.pop() ?? (await this.#openOne(timeoutMs, signal));
      const list = await connection.pop(lists, timeoutMs, signal);
      if (!this.#stopping.signal.aborted) this.#idle.push(connection);
      return list;
    } catch {
      if (connection) this.#discard(connection);
      // Without a pause, whoever waits again at once would do nothing else while the server is away.
      const ended = AbortSignal.any([signal, this.#stopping.signal]);
      const pauseMs = pauseAfterFailureMs * (0.5 + Math.random() / 2);
      await delay(Math.min(timeoutMs, pauseMs), undefined, { signal: ended }).catch(() => {});
      return null;
    }
  }

  async #openOne(timeoutMs: number, signal: AbortSignal): Promise<BlockingConnection> {
    const connection = this.#settings.open();
    this.#open.add(connection);
    try {
      await connection.open(Math.min(Math.max(timeoutMs, 500), this.#settings.commandLimitMs), signal);
    } catch (error) {
      this.#discard(connection);
      throw error;
    }
    return connection;
  }

  #discard(connection: BlockingConnection): void {
    this.#open.delete(connection);
    connection.close();
  }
}

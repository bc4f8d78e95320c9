import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type ConnectionSettings } from './connection.js';

const unblockAttempts = 25;
const unblockPauseMs = 20;

/**
 * A connection for waits that block it. It lives for one connect: after any failure it is closed for good, and the
 * next wait opens another.
 */
export class BlockingConnection {
  readonly #connection: Connection;
  readonly #main: Connection;
  readonly #graceMs: number;
  /** The number by which the server knows this connection, or null where it does not tell. */
  #id: number | null = null;

  /** `main` is another connection to the same server: it ends waits. */
  constructor(settings: ConnectionSettings, main: Connection) {
    this.#connection = new Connection(settings, { retryStrategy: null, commandTimeout: undefined });
    this.#main = main;
    this.#graceMs = settings.commandLimitMs;
  }

  async open(limitMs: number, signal: AbortSignal): Promise<void> {
    await this.#connection.connected(limitMs, signal);
    this.#id = await this.#answer('CLIENT', ['ID'], limitMs).then(Number, () => null);
  }

  /** The list that gave an element within the time, or null. Rejects when the connection is lost. */
  async pop(lists: string[], timeoutMs: number, signal: AbortSignal): Promise<string | null> {
    if (signal.aborted) return null;
    if (timeoutMs <= 0) return poppedFrom(await this.#answer('LMPOP', [lists.length, ...lists, 'LEFT'], 0));
    let waits = true;
    let unblocked: Promise<void> | undefined;
    const unblock = (): void => void (unblocked ??= this.#unblock(() => waits));
    signal.addEventListener('abort', unblock);
    try {
      const seconds = Math.max(0.001, timeoutMs / 1_000);
      return poppedFrom(await this.#answer('BLPOP', [...lists, seconds], timeoutMs));
    } finally {
      waits = false;
      signal.removeEventListener('abort', unblock);
      // Else it could end the next wait on this connection.
      await unblocked;
    }
  }

  close(): void {
    this.#connection.close();
  }

  /** A half-open connection never answers, and does not fail by itself: after the time it is closed. */
  async #answer(command: string, args: (string | number)[], limitMs: number): Promise<unknown> {
    const guard = setTimeout(() => this.close(), limitMs + this.#graceMs);
    try {
      return await this.#connection.sendUnlimited(command, args);
    } finally {
      clearTimeout(guard);
    }
  }

  /**
   * Ends the wait on the server, so that no element goes to a wait that nobody awaits. Several attempts, because
   * the first may overtake the wait itself. Closing the connection is the last resort: the server may have popped
   * an element for it by then.
   */
  async #unblock(waits: () => boolean): Promise<void> {
    for (let attempt = 1; waits() && attempt <= unblockAttempts; attempt++) {
      if (this.#id === null || !this.#isOnServerOfMain()) break;
      try {
        await this.#main.send('CLIENT', ['UNBLOCK', this.#id]);
      } catch {
        break;
      }
      if (waits()) await delay(unblockPauseMs);
    }
    if (waits()) this.close();
  }

  /** During a fail-over the two may be on different servers, where the number is somebody else's. */
  #isOnServerOfMain(): boolean {
    const [own, main] = [this.#connection, this.#main].map(({ redis: { stream } }) => stream);
    return own?.remoteAddress === main?.remoteAddress && own?.remotePort === main?.remotePort;
  }
}

/** BLPOP and LMPOP both answer the list first, and null where there was nothing. */
function poppedFrom(reply: unknown): string | null {
  return reply === null ? null : String((reply as unknown[])[0]);
}

import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient, PoolConfig } from 'pg';
import pg from 'pg';

export interface GrowingPoolConfig extends PoolConfig {
  /** How long somebody waits at least before there is another connection, in milliseconds. Default 50. */
  leastPatienceMs?: number;
}

const mostPatienceMs = 2_000;

/**
 * A pool that begins with one connection, and makes another only when somebody has waited for a free one about as
 * long as a new one takes: until then, waiting is the cheaper of the two. One at a time: each costs PostgreSQL a
 * process, and on a busy server more attempts only make each of them slower, until none comes about in time.
 */
export class GrowingPool {
  readonly #pool: pg.Pool;
  readonly #most: number;
  /** Also those that are still connecting. */
  readonly #clients = new Set<pg.Client>();
  #connected = 0;
  #growing = false;
  readonly #leastPatienceMs: number;
  #patienceMs: number;

  /** Of `config`, `max` is what it may grow to. */
  constructor({ max = 10, leastPatienceMs = 50, ...config }: GrowingPoolConfig) {
    this.#most = max;
    this.#leastPatienceMs = leastPatienceMs;
    this.#patienceMs = leastPatienceMs;
    const clients = this.#clients;
    class Client extends pg.Client {
      constructor(settings?: string | pg.ClientConfig) {
        super(settings);
        clients.add(this);
        // The pool takes its own listener away when it hands a client out, which may be in the midst of what the server has
        // sent: that it ends the session can come with the very message that this is ready.
        this.on('error', () => {});
        this.once('end', () => clients.delete(this));
      }
    }
    this.#pool = new pg.Pool({ ...config, max: 1, Client });
    // An idle connection that the server ends is dropped by the pool; without a listener it would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', () => (this.#connected += 1));
    this.#pool.on('remove', () => {
      this.#connected -= 1;
      this.#limitToPresent();
    });
  }

  connect(): Promise<PoolClient> {
    const client = this.#pool.connect();
    if (!this.#growing && this.#pool.waitingCount > 0) void this.#growWhileAwaited();
    return client;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /** After `end`, where that takes too long: what waits for a connection or a reply rejects. */
  destroy(): void {
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  async #growWhileAwaited(): Promise<void> {
    this.#growing = true;
    while (this.#pool.waitingCount > 0 && this.#pool.totalCount < this.#most && !this.#pool.ending) {
      const wasConnecting = this.#isConnecting();
      await delay(this.#patienceMs);
      const inVain = this.#pool.waitingCount > 0 && !wasConnecting && !this.#isConnecting();
      if (inVain) await this.#addOne();
    }
    this.#growing = false;
  }

  #isConnecting(): boolean {
    return this.#pool.totalCount > this.#connected;
  }

  async #addOne(): Promise<void> {
    this.#pool.options.max = this.#pool.totalCount + 1;
    const started = performance.now();
    // Its release hands it to whoever waits; a failure is met, and told, by the next to connect.
    await this.#pool.connect().then(
      (client) => client.release(),
      () => {},
    );
    const tookMs = performance.now() - started;
    this.#patienceMs = Math.max(this.#leastPatienceMs, Math.min(tookMs, mostPatienceMs));
    this.#limitToPresent();
  }

  #limitToPresent(): void {
    this.#pool.options.max = Math.max(1, this.#pool.totalCount);
  }
}

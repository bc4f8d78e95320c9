import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { PostgresOptions } from '../configuration.js';
import type { Logger } from '../log.js';
import { Unavailable, WrongTable } from '../errors.js';

export interface MemoryTableLockOptions {
  database: string | PostgresOptions;
  namespace: string;
  log: Logger;
}

/** How long a process that was just killed may take to lose its lock, in milliseconds. */
const patienceMs = 2_000;
const retryMs = 100;
const regainEveryMs = 1_000;

/**
 * The right to be the one process of a namespace with the in-memory lock table: an advisory lock of a session of
 * its own, which PostgreSQL ends when the process dies. It needs a direct connection, not a pooler's in
 * transaction mode. Where the session is lost while the process lives, the lock is taken again as soon as it can
 * be. G1 does not rest on it: who has the lock meanwhile opened an epoch, and claims of an older one are refused.
 */
export class MemoryTableLock {
  readonly #options: MemoryTableLockOptions;
  #client: pg.Client | null = null;
  readonly #released = new AbortController();

  constructor(options: MemoryTableLockOptions) {
    this.#options = options;
  }

  /** Throws WrongTable while another process has the lock, Unavailable where PostgreSQL cannot be asked. */
  async take(): Promise<void> {
    const end = performance.now() + patienceMs;
    while (!(await this.#tryToTake())) {
      if (performance.now() >= end) {
        throw new WrongTable(
          `The lock table of namespace "${this.#options.namespace}" is in the memory of another process. ` +
            'Stop that one, or use Redis for several processes.',
        );
      }
      await sleep(retryMs);
    }
  }

  /** Without it no epoch may be opened: two processes would do so in turns. */
  get held(): boolean {
    return this.#client !== null;
  }

  async release(): Promise<void> {
    this.#released.abort();
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  async #tryToTake(): Promise<boolean> {
    const client = this.#newClient();
    try {
      await client.connect();
      const { rows } = await client.query<{ taken: boolean }>(
        "SELECT pg_try_advisory_lock(hashtextextended('holdfast: table in memory: ' || $1, 0)) AS taken",
        [this.#options.namespace],
      );
      if (rows[0]?.taken === true && !this.#released.signal.aborted) {
        this.#client = client;
        return true;
      }
    } catch (error) {
      void client.end().catch(() => {});
      throw new Unavailable('PostgreSQL cannot be asked for the lock of the in-memory table.', {
        cause: error,
      });
    }
    await client.end();
    return false;
  }

  #newClient(): pg.Client {
    const { database } = this.#options;
    const place = typeof database === 'string' ? { connectionString: database } : database;
    const client = new pg.Client({
      ...place,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    client.on('error', () => {});
    client.on('end', () => {
      if (this.#client !== client) return;
      this.#client = null;
      void this.#regain();
    });
    return client;
  }

  async #regain(): Promise<void> {
    const { log, namespace } = this.#options;
    log.warn({ namespace }, 'the session that holds the lock of the in-memory table was lost');
    while (!this.#released.signal.aborted) {
      try {
        if (await this.#tryToTake())
          return log.info({ namespace }, 'the lock of the in-memory table is back');
        log.warn({ namespace }, 'the in-memory table of this namespace is locked by another session');
      } catch (error) {
        log.warn({ namespace, err: error }, 'the lock of the in-memory table cannot be taken again yet');
      }
      await sleep(regainEveryMs, undefined, { signal: this.#released.signal }).catch(() => {});
    }
  }
}

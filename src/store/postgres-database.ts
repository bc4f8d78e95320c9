import type { ClientConfig, PoolClient } from 'pg';
import type { Database, Queryable, TransactionLimits } from './database.js';
import { GrowingPool } from './growing-pool.js';
import { unavailable } from './postgres-error.js';
import { PostgresListener } from './postgres-listener.js';
import { graceMs, PostgresSession } from './postgres-session.js';
import { postgresTypes } from './postgres-types.js';

export interface PostgresOptions {
  /** A URL or a plain configuration of node-postgres. */
  connection: string | ClientConfig;
  /** Connections at most, those that listen aside. Default 10. */
  connections?: number;
  /** For making a connection, or getting a free one, in milliseconds. Default 15,000. */
  connectLimitMs?: number;
  /** For the reply to one autocommit call, in milliseconds. Default 15,000. */
  callLimitMs?: number;
}

const closeLimitMs = 3_000;

/** Connects when it is first used. Safe behind PgBouncer in transaction mode, LISTEN aside. */
export function createPostgresDatabase(options: PostgresOptions): Database {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly #pool: GrowingPool;
  readonly #config: ClientConfig;
  readonly #callLimitMs: number;
  readonly #listeners = new Set<PostgresListener>();
  #closing: Promise<void> | null = null;

  constructor(options: PostgresOptions) {
    this.#config = clientConfig(options);
    this.#callLimitMs = options.callLimitMs ?? 15_000;
    this.#pool = new GrowingPool({ ...this.#config, max: options.connections, idleTimeoutMillis: 30_000 });
  }

  async query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    const session = await this.#checkOut(this.#callLimitMs);
    try {
      return await session.send<Row>(text, values);
    } finally {
      session.release();
    }
  }

  async transaction<T>(
    work: (queryable: Queryable) => Promise<T>,
    limits: TransactionLimits = {},
  ): Promise<T> {
    const session = await this.#checkOut((limits.statementLimitMs ?? 10_000) + graceMs);
    try {
      await session.send(beginText(limits));
      const result = await work({ query: (text, values) => session.send(text, values) });
      await session.commit();
      return result;
    } catch (error) {
      await session.rollBack();
      throw error;
    } finally {
      session.release();
    }
  }

  async listen(channel: string, listener: () => void): Promise<() => Promise<void>> {
    const listening = new PostgresListener({ config: this.#config, channel, listener });
    this.#listeners.add(listening);
    try {
      await listening.start();
    } catch (error) {
      this.#listeners.delete(listening);
      throw error;
    }
    return async () => {
      this.#listeners.delete(listening);
      await listening.stop();
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    const ended = this.#pool.end();
    await Promise.all([
      ...listeners.map((listener) => listener.stop()),
      withinLimit(ended, closeLimitMs, () => this.#pool.destroy()),
    ]);
  }

  async #checkOut(limitMs: number): Promise<PostgresSession> {
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw unavailable(error);
    }
    return new PostgresSession(client, limitMs);
  }
}

function clientConfig({ connection, connectLimitMs = 15_000 }: PostgresOptions): ClientConfig {
  return {
    application_name: 'holdfast',
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    types: postgresTypes,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectLimitMs,
  };
}

function beginText(limits: TransactionLimits): string {
  const { statementLimitMs = 10_000, lockLimitMs = 5_000, idleLimitMs = 5_000 } = limits;
  return (
    'BEGIN ISOLATION LEVEL READ COMMITTED; ' +
    `SET LOCAL statement_timeout = ${Math.ceil(statementLimitMs)}; ` +
    `SET LOCAL lock_timeout = ${Math.ceil(lockLimitMs)}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idleLimitMs)}`
  );
}

async function withinLimit(done: Promise<unknown>, limitMs: number, atLimit: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      atLimit();
      resolve();
    }, limitMs);
  });
  try {
    await Promise.race([done, limit]);
  } finally {
    clearTimeout(timer);
  }
}

import type { ClientConfig, PoolClient, QueryConfig } from 'pg';
import type { Database, Queryable, TransactionLimits } from './database.js';
import pg from 'pg';
import { queryError, unavailable } from './postgres-error.js';
import { PostgresListener } from './postgres-listener.js';
import { postgresTypes } from './postgres-types.js';

export interface PostgresOptions {
  /** A URL or a plain configuration of node-postgres. */
  connection: string | ClientConfig;
  /** Connections at most, those that listen aside. Default 10. */
  connections?: number;
  /** For making a connection, or getting a free one, in milliseconds. Default 5,000. */
  connectLimitMs?: number;
  /** For the reply to one autocommit call, in milliseconds. Default 15,000. */
  callLimitMs?: number;
}

/** How much longer than the server the client waits for a statement in a transaction. */
const graceMs = 2_000;
const closeLimitMs = 5_000;

/** Connects when it is first used. Safe behind PgBouncer in transaction mode, LISTEN aside. */
export function createPostgresDatabase(options: PostgresOptions): Database {
  return new PostgresDatabase(options);
}

class PostgresDatabase implements Database {
  readonly kind = 'postgres';
  readonly #pool: pg.Pool;
  readonly #config: ClientConfig;
  readonly #callLimitMs: number;
  readonly #out = new Set<PoolClient>();
  readonly #listeners = new Set<PostgresListener>();
  #closing: Promise<void> | null = null;

  constructor(options: PostgresOptions) {
    this.#config = clientConfig(options);
    this.#callLimitMs = options.callLimitMs ?? 15_000;
    this.#pool = new pg.Pool({ ...this.#config, max: options.connections ?? 10, idleTimeoutMillis: 30_000 });
    // An idle connection that the server ends is dropped by the pool; without a listener it would end the process.
    this.#pool.on('error', () => {});
  }

  async query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    const client = await this.#checkOut();
    let failure: unknown = null;
    try {
      return await send<Row>(client, text, values, this.#callLimitMs);
    } catch (error) {
      failure = error;
      throw queryError(error);
    } finally {
      this.#checkIn(client, failure);
    }
  }

  async transaction<T>(
    work: (queryable: Queryable) => Promise<T>,
    limits: TransactionLimits = {},
  ): Promise<T> {
    const client = await this.#checkOut();
    const limitMs = (limits.statementLimitMs ?? 10_000) + graceMs;
    let failure: unknown = null;
    const queryable: Queryable = {
      query: async (text, values) => {
        try {
          return await send(client, text, values, limitMs);
        } catch (error) {
          throw queryError(error);
        }
      },
    };
    try {
      await queryable.query(beginText(limits));
      const result = await work(queryable);
      await commit(client, limitMs);
      return result;
    } catch (error) {
      failure = await rollBack(client);
      throw error;
    } finally {
      this.#checkIn(client, failure);
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
      withinLimit(ended, closeLimitMs, () => {
        for (const client of this.#out) client.connection.stream.destroy();
      }),
    ]);
  }

  async #checkOut(): Promise<PoolClient> {
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw unavailable(error);
    }
    // A connection that breaks rejects its query as well: this keeps the event from ending the process.
    client.on('error', ignore);
    this.#out.add(client);
    return client;
  }

  /** A connection whose last call did not come to an orderly end is closed: a late reply could be taken for another. */
  #checkIn(client: PoolClient, failure: unknown): void {
    client.off('error', ignore);
    this.#out.delete(client);
    const orderly = failure === null || failure instanceof pg.DatabaseError;
    client.release(!orderly);
  }
}

function clientConfig({ connection, connectLimitMs = 5_000 }: PostgresOptions): ClientConfig {
  return {
    application_name: 'holdfast',
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    types: postgresTypes,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectLimitMs,
  };
}

/** Several statements give several results, of which the last one counts. */
async function send<Row>(
  client: PoolClient,
  text: string,
  values: unknown[] | undefined,
  limitMs: number,
): Promise<{ rows: Row[] }> {
  const config: QueryConfig & { query_timeout: number } = { text, query_timeout: limitMs };
  if (values !== undefined) config.values = values;
  const results: unknown = await client.query(config);
  const last: unknown = Array.isArray(results) ? results.at(-1) : results;
  return { rows: (last as { rows: Row[] }).rows };
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

/** The server answers COMMIT with a ROLLBACK where a statement failed and its error was swallowed. */
async function commit(client: PoolClient, limitMs: number): Promise<void> {
  const config: QueryConfig & { query_timeout: number } = { text: 'COMMIT', query_timeout: limitMs };
  const { command } = await client.query(config).catch((error: unknown) => {
    throw queryError(error);
  });
  if (command === 'ROLLBACK')
    throw new Error('The transaction was rolled back: one of its statements failed.');
}

/** Returns why the connection is not fit for further use, or null. */
async function rollBack(client: PoolClient): Promise<unknown> {
  const config: QueryConfig & { query_timeout: number } = { text: 'ROLLBACK', query_timeout: graceMs };
  try {
    await client.query(config);
    return null;
  } catch (error) {
    return error instanceof pg.DatabaseError ? new Error('not rolled back', { cause: error }) : error;
  }
}

function ignore(): void {}

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

import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { keepsSession, queryError } from './postgres-error.js';

/** How much longer than the server the client waits for a statement in a transaction. */
export const graceMs = 2_000;

/** A connection that is out of the pool. It goes back unless a call did not come to an orderly end. */
export class PostgresSession {
  readonly #client: PoolClient;
  readonly #limitMs: number;
  /** After a lost reply the connection would answer the next call with it. */
  #broken = false;

  constructor(client: PoolClient, limitMs: number) {
    this.#client = client;
    this.#limitMs = limitMs;
    // A connection that breaks rejects its call as well: this keeps the event from ending the process.
    client.on('error', this.#onError);
  }

  /** Several statements give several results, of which the last one counts. */
  async send<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    const results: unknown = await this.#ask(text, values, this.#limitMs);
    const last: unknown = Array.isArray(results) ? results.at(-1) : results;
    return { rows: (last as { rows: Row[] }).rows };
  }

  /** The server answers COMMIT with ROLLBACK where a statement failed and its error was swallowed. */
  async commit(): Promise<void> {
    const { command } = await this.#ask('COMMIT', undefined, this.#limitMs);
    if (command === 'ROLLBACK') {
      throw new Error('The transaction was rolled back: one of its statements failed.');
    }
  }

  /** Never throws: where it fails, the server rolls back when the connection closes. */
  async rollBack(): Promise<void> {
    if (this.#broken) return;
    await this.#ask('ROLLBACK', undefined, graceMs).catch(() => {
      this.#broken = true;
    });
  }

  release(): void {
    this.#client.off('error', this.#onError);
    this.#client.release(this.#broken);
  }

  readonly #onError = (): void => {
    this.#broken = true;
  };

  async #ask(text: string, values: unknown[] | undefined, limitMs: number): Promise<QueryResult> {
    const config: QueryConfig & { query_timeout: number } = { text, query_timeout: limitMs };
    if (values !== undefined) config.values = values;
    try {
      return await this.#client.query(config);
    } catch (error) {
      if (!keepsSession(error)) this.#broken = true;
      throw queryError(error);
    }
  }
}

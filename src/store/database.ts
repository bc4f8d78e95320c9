/**
 * The port to PostgreSQL: `pg` in production, PGlite when embedded. One conformance suite runs on both. Rows come
 * alike from both: 64-bit numbers as decimal strings, JSON as values, arrays as arrays, timestamps as ISO 8601 in
 * UTC with milliseconds. An outage is thrown as Unavailable; every other error of the server as it came, with its
 * SQLSTATE as `code`.
 */
export interface Database {
  readonly kind: 'postgres' | 'pglite';
  /**
   * One autocommit call. `values` are bound to $1 …: JSON as text, arrays as arrays of strings or numbers. Without
   * `values` the text may hold several statements, and the rows are the last one's. Every call is bounded by the
   * adapter's time limit; one that was given up may still be executed by the server.
   */
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  /**
   * Runs `work` in one READ COMMITTED transaction; commits when it resolves, rolls back when it throws. The
   * server ends the transaction where the process stalls in it for longer than `idleLimitMs` (default 5,000).
   * `work` queries through its argument only: PGlite keeps every other call waiting until it is done.
   */
  transaction<T>(work: (queryable: Queryable) => Promise<T>, limits?: TransactionLimits): Promise<T>;
  /**
   * Calls `listener` at each NOTIFY on `channel`, across reconnects, until the returned function is called; after
   * a reconnect once more, for what was missed. Rejects where the first connection fails.
   */
  listen(channel: string, listener: () => void): Promise<() => Promise<void>>;
  /** Idempotent and bounded in time, also with the server away. */
  close(): Promise<void>;
}

/** What runs a query: the database, a transaction of it, or a caller's own transaction. */
export interface Queryable {
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/** In milliseconds. Defaults: 10,000 a statement, 5,000 a lock, 5,000 idle. PGlite has nobody to wait for, and none. */
export interface TransactionLimits {
  statementLimitMs?: number;
  lockLimitMs?: number;
  idleLimitMs?: number;
}

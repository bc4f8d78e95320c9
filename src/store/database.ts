/** The port to PostgreSQL: `pg` in production, PGlite when embedded. One conformance suite runs on both. */
export interface Database {
  readonly kind: 'postgres' | 'pglite';
  /** One autocommit call. `values` are bound to $1 …; every call is bounded by the adapter's time limit. */
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  /**
   * Runs `work` in one READ COMMITTED transaction; commits when it resolves, rolls back when it throws. The
   * server ends the transaction where the process stalls in it for longer than `idleLimitMs` (default 5,000).
   */
  transaction<T>(work: (queryable: Queryable) => Promise<T>, limits?: TransactionLimits): Promise<T>;
  /** Calls `listener` at each NOTIFY on `channel`, across reconnects, until the returned function is called. */
  listen(channel: string, listener: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What runs a query: the database, a transaction of it, or a caller's own transaction. */
export interface Queryable {
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

export interface TransactionLimits {
  statementLimitMs?: number;
  lockLimitMs?: number;
  idleLimitMs?: number;
}

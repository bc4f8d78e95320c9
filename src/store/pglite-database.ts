import type * as pglite from '@electric-sql/pglite';
import type { Database, Queryable } from './database.js';
import { HoldfastError, NotConfigured } from '../errors.js';
import { isOutage, unavailable } from './postgres-error.js';
import { isoTimestamp } from './postgres-types.js';

export interface PgliteOptions {
  /** A folder, or `memory://`. */
  dataDir: string;
}

/**
 * PostgreSQL inside this process, on disk. It has one connection, so calls run one after another. Throws
 * NotConfigured where the package is not installed, Unavailable where it cannot open the folder.
 */
export async function createPgliteDatabase({ dataDir }: PgliteOptions): Promise<Database> {
  const { PGlite } = await importPglite();
  const parsers = { 20: String, 1184: isoTimestamp };
  try {
    return new PgliteDatabase(await PGlite.create({ dataDir, parsers }));
  } catch (error) {
    throw unavailable(error);
  }
}

async function importPglite(): Promise<typeof pglite> {
  try {
    return await import('@electric-sql/pglite');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new NotConfigured(
      'Embedded mode needs PGlite, an optional package. Install it: npm install @electric-sql/pglite',
    );
  }
}

type Session = Pick<pglite.PGlite, 'query' | 'exec'>;

class PgliteDatabase implements Database {
  readonly kind = 'pglite';
  readonly #pglite: pglite.PGlite;
  readonly #listening = new Set<() => Promise<void>>();
  #closing: Promise<void> | null = null;

  constructor(opened: pglite.PGlite) {
    this.#pglite = opened;
  }

  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> {
    return send<Row>(this.#pglite, text, values);
  }

  async transaction<T>(work: (queryable: Queryable) => Promise<T>): Promise<T> {
    try {
      return await this.#pglite.transaction(async (session) => {
        await session.exec('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
        return work({ query: (text, values) => send(session, text, values) });
      });
    } catch (error) {
      throw pgliteError(error);
    }
  }

  async listen(channel: string, listener: () => void): Promise<() => Promise<void>> {
    // PGlite compares channels as PostgreSQL would fold them, so a quoted one is given in its quotes.
    const unlisten = await this.#pglite
      .listen(`"${channel}"`, () => listener())
      .catch((error: unknown) => {
        throw pgliteError(error);
      });
    const stop = async (): Promise<void> => {
      if (this.#listening.delete(stop)) await unlisten();
    };
    this.#listening.add(stop);
    return stop;
  }

  close(): Promise<void> {
    this.#closing ??= this.#pglite.close();
    return this.#closing;
  }
}

async function send<Row>(
  session: Session,
  text: string,
  values: unknown[] | undefined,
): Promise<{ rows: Row[] }> {
  try {
    if (values !== undefined) return { rows: (await session.query<Row>(text, values)).rows };
    const results = await session.exec(text);
    return { rows: (results.at(-1)?.rows ?? []) as Row[] };
  } catch (error) {
    throw pgliteError(error);
  }
}

/**
 * The error of a call as the port throws it. Without a SQLSTATE, only what tells that PGlite is closed, or that it
 * broke down below SQL, is an outage: the rest are values that it cannot send, or what a transaction's work threw.
 */
function pgliteError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || error instanceof HoldfastError) return error;
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (isOutage(code)) return unavailable(error);
  if (typeof message === 'string' && /^PGlite is clos(?:ed|ing)$/.test(message)) return unavailable(error);
  return brokenDown.has(name) ? unavailable(error) : error;
}

/** Names of what WebAssembly, the program in it, and its file system throw. */
const brokenDown = new Set<unknown>(['RuntimeError', 'ExitStatus', 'ErrnoError']);

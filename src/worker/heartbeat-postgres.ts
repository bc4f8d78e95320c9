import type { ClientConfig } from 'pg';
import pg from 'pg';
import { Unavailable } from '../errors.js';
import type { PostgresConnection } from './heartbeat.js';
import type { ThreadBeater } from './heartbeat-loop.js';

export interface PostgresBeaterOptions {
  connection: PostgresConnection;
  /** An UPDATE that takes the incarnation as $1 and changes its row unless it is reaped. */
  beatText: string;
  /** An UPDATE that notes in the row of $1 that it has stopped itself, unless it is reaped. */
  stoppedText: string;
  /** For connecting and one of them together, in milliseconds. */
  limitMs: number;
  onError: (error: unknown) => void;
}

interface Session {
  client: pg.Client;
  connected: Promise<unknown>;
}

/** Beats for one incarnation on a connection of its own, which is made anew after any failure. */
export class PostgresBeater implements ThreadBeater {
  readonly #options: PostgresBeaterOptions;
  #session: Session | null = null;
  #incarnation: string | null = null;

  constructor(options: PostgresBeaterOptions) {
    this.#options = options;
  }

  /**
   * Connects before there is anything to beat for: on a busy server a new connection takes seconds. A failure is
   * only told, for the first beat connects again.
   */
  async connect(limitMs: number): Promise<void> {
    this.#session ??= this.#open();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(() => resolve(this.close()), limitMs);
    });
    const connected = this.#session.connected.catch((error: unknown) => {
      this.close();
      this.#options.onError(error);
    });
    await Promise.race([connected, limit]);
    clearTimeout(timer);
  }

  beatFor(incarnation: string): void {
    this.#incarnation = incarnation;
  }

  async beat(): Promise<'beaten' | 'reaped'> {
    return (await this.#changedRows(this.#options.beatText)) === 0 ? 'reaped' : 'beaten';
  }

  /** After the last beat. */
  async sayStopped(): Promise<void> {
    await this.#changedRows(this.#options.stoppedText);
  }

  /** How many rows it has changed. */
  async #changedRows(text: string): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#tooSlow()), this.#options.limitMs);
    });
    const changed = this.#query(text);
    try {
      return await Promise.race([changed, limit]);
    } catch (error) {
      // Whoever lost the race rejects later, or never.
      changed.catch(() => {});
      // After a lost reply this connection would answer the next query with the reply to this one.
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Without a farewell: the server may be out of reach. A beat under way rejects. */
  close(): void {
    const session = this.#session;
    this.#session = null;
    session?.client.connection.stream.destroy();
  }

  async #query(text: string): Promise<number> {
    this.#session ??= this.#open();
    const { client, connected } = this.#session;
    await connected;
    const { rowCount } = await client.query(text, [this.#incarnation]);
    return rowCount ?? 0;
  }

  #open(): Session {
    const client = new pg.Client({ ...clientConfig(this.#options.connection), keepAlive: true });
    client.on('error', (error) => {
      // Between beats nobody else would tell; during one its rejection does so too.
      if (this.#session?.client !== client) return;
      this.#session = null;
      this.#options.onError(error);
    });
    return { client, connected: client.connect() };
  }

  #tooSlow(): Unavailable {
    return new Unavailable(`PostgreSQL did not answer a heartbeat within ${this.#options.limitMs} ms.`);
  }
}

function clientConfig(connection: PostgresConnection): ClientConfig {
  const config = typeof connection === 'string' ? { connectionString: connection } : connection;
  return { application_name: 'holdfast heartbeat', ...config };
}

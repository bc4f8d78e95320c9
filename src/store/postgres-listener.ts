import type { ClientConfig, QueryConfig } from 'pg';
import pg from 'pg';
import { unavailable } from './postgres-error.js';

export interface ListenerOptions {
  config: ClientConfig;
  channel: string;
  listener: () => void;
}

const firstDelayMs = 100;
const longestDelayMs = 5_000;
/** A half-open connection brings no notification and no error: asking is the only way to tell. */
const checkEveryMs = 20_000;
const replyLimitMs = 5_000;

/** LISTEN on a connection of its own, which is made anew whenever it is lost. */
export class PostgresListener {
  readonly #options: ListenerOptions;
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  #delayMs = firstDelayMs;
  #stopped = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Throws Unavailable where the first connection fails. */
  async start(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      await this.stop();
      throw unavailable(error);
    }
  }

  /** Idempotent; does not wait for the server. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    client?.connection.stream.destroy();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#options.config);
    this.#client = client;
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', () => this.#options.listener());
    await client.connect();
    await ask(client, `LISTEN "${this.#options.channel}"`);
    this.#delayMs = firstDelayMs;
    if (this.#client === client) this.#after(checkEveryMs, () => this.#check(client));
  }

  async #check(client: pg.Client): Promise<void> {
    try {
      await ask(client, 'SELECT 1');
      if (this.#client === client) this.#after(checkEveryMs, () => this.#check(client));
    } catch {
      this.#lost(client);
    }
  }

  #lost(client: pg.Client): void {
    client.connection.stream.destroy();
    if (this.#client !== client) return;
    this.#client = null;
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    if (this.#stopped) return;
    // What was lost together does not come back together.
    this.#after(this.#delayMs * (0.5 + Math.random() / 2), async () => {
      this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
      try {
        await this.#connect();
        // For what was notified while nobody listened.
        if (!this.#stopped) this.#options.listener();
      } catch {
        const client = this.#client;
        if (client !== null) this.#lost(client);
      }
    });
  }

  #after(delayMs: number, step: () => Promise<void>): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void step(), delayMs);
  }
}

async function ask(client: pg.Client, text: string): Promise<void> {
  const config: QueryConfig & { query_timeout: number } = { text, query_timeout: replyLimitMs };
  await client.query(config);
}

import type { PostgresSystem } from './servers.js';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { unprivilegedUser } from '../helpers/postgres-server.js';
import { requireProgram } from '../helpers/programs.js';
import { startProxy, type TcpProxy } from '../helpers/tcp-proxy.js';
import { waitUntil } from '../helpers/wait-until.js';
import { Postgres } from './servers.js';

/** Whoever lost its server looks for it again soon, not only after the usual 5 s. */
const settings = { wal_retrieve_retry_interval: '100ms' };
const limitMs = 60_000;

/**
 * A primary and a standby that has every commit before it is confirmed, behind one address. After a fail-over the one
 * that was killed is made anew, as the standby of the other.
 */
export class ReplicatedPostgres implements PostgresSystem {
  readonly #folder: string;
  readonly #address: TcpProxy;
  #primary: Postgres;
  #standby: Postgres;
  #failOvers = 0;

  private constructor(folder: string, address: TcpProxy, primary: Postgres, standby: Postgres) {
    this.#folder = folder;
    this.#address = address;
    this.#primary = primary;
    this.#standby = standby;
  }

  static async start(folder: string): Promise<ReplicatedPostgres> {
    const primary = await Postgres.start(folder, { name: 'postgres-0', settings });
    try {
      const standby = await follower(folder, 'postgres-1', primary);
      const address = await startProxy(primary.url);
      return new ReplicatedPostgres(folder, address, primary, standby);
    } catch (error) {
      await primary.stop();
      throw error;
    }
  }

  get url(): string {
    return this.#address.url;
  }

  restart(how: 'SIGINT' | 'SIGQUIT', downMs: () => Promise<void>): Promise<void> {
    return this.#primary.restart(how, downMs);
  }

  freeze(): void {
    this.#primary.freeze();
  }

  thaw(): void {
    this.#primary.thaw();
  }

  /** Nothing that was confirmed is lost. `away` is told of the time in which nobody is the primary. */
  async failOver(
    downMs: () => Promise<void>,
    away: (outage: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await waitUntil(() => isFollowed(this.#primary), 'the standby has what the primary has', limitMs);
    await away(async () => {
      await this.#primary.kill();
      await downMs();
      await asked(this.#standby.url, `SELECT pg_promote(true, ${limitMs / 1_000})`);
      this.#address.leadTo(this.#standby.url);
      this.#address.reset();
    });
    this.#failOvers += 1;
    const killed = this.#primary;
    this.#primary = this.#standby;
    await killed.stop();
    this.#standby = await follower(this.#folder, `postgres-${this.#failOvers + 1}`, this.#primary);
  }

  async stop(): Promise<void> {
    this.thaw();
    await this.#standby.stop();
    await this.#primary.stop();
    await this.#address.stop();
  }
}

/** From now on the primary confirms only what this standby has. */
async function follower(folder: string, name: string, primary: Postgres): Promise<Postgres> {
  const copy = async (data: string): Promise<void> => {
    const args = ['-D', data, '-d', primary.url, '-R', '-X', 'stream', '-c', 'fast'];
    await promisify(execFile)(requireProgram('pg_basebackup'), args, { cwd: '/', ...unprivilegedUser() });
  };
  const standby = await Postgres.start(folder, { name, settings, make: copy });
  // After the copy, which would wait for a standby of its own once it is promoted.
  await asked(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await asked(primary.url, 'SELECT pg_reload_conf()');
  await waitUntil(() => isFollowed(primary), 'the standby follows', limitMs);
  return standby;
}

async function isFollowed({ url }: Postgres): Promise<boolean> {
  const [row] = await asked(url, 'SELECT sync_state FROM pg_stat_replication');
  return row?.['sync_state'] === 'sync';
}

async function asked(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'chaos' });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

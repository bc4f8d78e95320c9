import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startPostgres, unprivilegedUser, type PostgresServer } from '../helpers/postgres-server.js';
import { startRedis, type RedisServer } from '../helpers/redis-server.js';
import { removeFolder } from '../helpers/server-process.js';
import { childrenOf, signal } from './processes.js';

/** What faults do to PostgreSQL, on however many servers it runs. */
export interface PostgresSystem {
  readonly url: string;
  /** SIGINT ends the sessions first; SIGQUIT ends at once, and the next start recovers from the log. */
  restart(how: 'SIGINT' | 'SIGQUIT', downMs: () => Promise<void>): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

interface PostgresHome {
  /** Of its folder. */
  name: string;
  settings?: Record<string, string>;
  /** Makes its data folder. Default: an empty one. */
  make?: (data: string) => Promise<void>;
}

/** A PostgreSQL that can be ended and started again, with its data. */
export class Postgres implements PostgresSystem {
  readonly #data: string;
  readonly #settings: Record<string, string>;
  #server: PostgresServer;

  private constructor(data: string, settings: Record<string, string>, server: PostgresServer) {
    this.#data = data;
    this.#settings = settings;
    this.#server = server;
  }

  static async start(
    folder: string,
    { name, settings = {}, make }: PostgresHome = { name: 'postgres' },
  ): Promise<Postgres> {
    const home = join(folder, name);
    mkdirSync(home);
    const user = unprivilegedUser();
    if (user !== undefined) chownSync(home, user.uid, user.gid);
    const data = join(home, 'data');
    await make?.(data);
    return new Postgres(data, settings, await startPostgres({ data, settings }));
  }

  get url(): string {
    return this.#server.url;
  }

  async restart(how: 'SIGINT' | 'SIGQUIT', downMs: () => Promise<void>): Promise<void> {
    this.#server.kill(how);
    await this.#server.exited;
    await downMs();
    const { port } = this.#server;
    await this.#server.stop();
    this.#server = await startPostgres({ data: this.#data, settings: this.#settings, port });
  }

  /** At once. `stop` is still to be called. */
  async kill(): Promise<void> {
    this.#server.kill('SIGQUIT');
    await this.#server.exited;
  }

  /** Every process of it: each session has one. */
  freeze(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    this.thaw();
    await this.#server.stop();
  }

  #processes(): number[] {
    return [this.#server.pid, ...childrenOf(this.#server.pid)];
  }
}

/** A Redis that can be ended and started again, with what it wrote to its disk or without. */
export class StandaloneRedis {
  readonly #data: string;
  #server: RedisServer;

  private constructor(data: string, server: RedisServer) {
    this.#data = data;
    this.#server = server;
  }

  static async start(folder: string): Promise<StandaloneRedis> {
    const data = join(folder, 'redis');
    mkdirSync(data);
    return new StandaloneRedis(data, await startRedis({ args: argumentsWith(data) }));
  }

  get url(): string {
    return this.#server.url;
  }

  /** What the processes connect to, and may be redirected. */
  get ports(): number[] {
    return [this.#server.port];
  }

  /** Past every proxy. */
  connect(): Redis {
    return quiet(new Redis(this.url, patience));
  }

  async restart(keep: 'data' | 'nothing', downMs: () => Promise<void>): Promise<void> {
    this.#server.kill('SIGKILL');
    await this.#server.exited;
    if (keep === 'nothing') {
      removeFolder(this.#data);
      mkdirSync(this.#data);
    }
    await downMs();
    const { port } = this.#server;
    await this.#server.stop();
    this.#server = await startRedis({ args: argumentsWith(this.#data), port });
  }

  async freeze(): Promise<void> {
    this.#server.kill('SIGSTOP');
  }

  thaw(): void {
    this.#server.kill('SIGCONT');
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

function argumentsWith(data: string): string[] {
  const kept = ['--dir', data, '--appendonly', 'yes', '--appendfsync', 'everysec'];
  return [...kept, '--enable-debug-command', 'local'];
}

/** A command that finds no server fails soon, and one that hangs at last. */
export const patience = { maxRetriesPerRequest: 1, commandTimeout: 20_000, retryStrategy: (): number => 100 };

export function quiet(redis: Redis): Redis {
  redis.on('error', () => {});
  return redis;
}

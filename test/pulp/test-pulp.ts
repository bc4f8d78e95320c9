import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { silentLogger } from '../../src/log.js';
import { type OpenPulp, openPulp } from '../../src/pulp/open-pulp.js';
import type { Mode } from '../../src/pulp/scripts.js';
import { type RedisServer, startRedis } from '../helpers/redis-server.js';
import { sharedPostgresUrl, uniqueNamespace } from '../helpers/servers.js';

export interface TestProcess {
  /** PostgreSQL's interval since the last heartbeat. */
  silent?: string;
  ttl?: string;
  kind?: string;
}

export interface TestLocks {
  task?: string;
  exclusive?: string[];
  shared?: string[];
}

const tables = `
  CREATE TABLE core_appstatus (
    pulp_id uuid PRIMARY KEY, name text NOT NULL, app_type varchar(10) NOT NULL,
    last_heartbeat timestamptz NOT NULL, ttl interval NOT NULL
  );
  CREATE TABLE core_task (
    pulp_id uuid PRIMARY KEY, state text NOT NULL,
    app_lock_id uuid REFERENCES core_appstatus ON DELETE SET NULL,
    reserved_resources_record text[]
  )`;

/** A Redis and a database with pulpcore's keys and tables, written as pulpcore's processes would. */
export class TestPulp {
  readonly server: RedisServer;
  readonly databaseUrl: string;
  readonly redis: Redis;
  readonly client: pg.Client;
  readonly #opened: OpenPulp[] = [];

  private constructor(server: RedisServer, databaseUrl: string, client: pg.Client) {
    this.server = server;
    this.databaseUrl = databaseUrl;
    this.redis = new Redis(server.url);
    this.client = client;
  }

  static async start(): Promise<TestPulp> {
    const name = uniqueNamespace();
    await asAdministrator(`CREATE DATABASE ${name}`);
    const url = new URL(sharedPostgresUrl());
    url.pathname = `/${name}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(tables);
    return new TestPulp(await startRedis(), url.href, client);
  }

  async stop(): Promise<void> {
    await this.closeOpened();
    this.redis.disconnect();
    await this.client.end();
    await this.server.stop();
    await asAdministrator(`DROP DATABASE ${new URL(this.databaseUrl).pathname.slice(1)} WITH (FORCE)`);
  }

  /** For the next test. */
  async empty(): Promise<void> {
    await this.closeOpened();
    await this.redis.flushall();
    await this.client.query('TRUNCATE core_appstatus, core_task');
  }

  async open(mode: Mode = 'release', redisUrl: string = this.server.url): Promise<OpenPulp> {
    const pulp = await openPulp({ redisUrl, databaseUrl: this.databaseUrl, mode, log: silentLogger });
    this.#opened.push(pulp);
    return pulp;
  }

  async process(
    name: string,
    { silent = '1s', ttl = '30s', kind = 'worker' }: TestProcess = {},
  ): Promise<string> {
    const id = randomUUID();
    const values = [id, name, kind, silent, ttl];
    await this.client.query(
      'INSERT INTO core_appstatus VALUES ($1, $2, $3, now() - $4::interval, $5)',
      values,
    );
    return id;
  }

  async task(state: string, process: string | null, resources: string[] = []): Promise<string> {
    const id = randomUUID();
    await this.client.query('INSERT INTO core_task VALUES ($1, $2, $3, $4)', [id, state, process, resources]);
    return id;
  }

  /** As pulpcore takes locks, with their entries in the owner's registry. */
  async takes(owner: string, locks: TestLocks): Promise<string[]> {
    const keys = await this.takesUnregistered(owner, locks);
    await this.redis.sadd(`pulp:owner_locks:${owner}`, ...keys);
    await this.redis.sadd('pulp:active_owners', owner);
    return keys;
  }

  /** As pulpcore took locks before it had registries. */
  async takesUnregistered(
    owner: string,
    { task, exclusive = [], shared = [] }: TestLocks,
  ): Promise<string[]> {
    const texts = [
      ...(task === undefined ? [] : [`task:${task}`]),
      ...exclusive.map((resource) => `pulp:resource_lock:${resource}`),
    ];
    const sets = shared.map((resource) => `pulp:resource_lock:${resource}`);
    const calls = this.redis.pipeline();
    for (const key of texts) calls.set(key, owner);
    for (const key of sets) calls.sadd(key, owner);
    await calls.exec();
    return [...texts, ...sets];
  }

  /** Of owners that live, each of whose registries has 100 locks, two thirds of them of resources. */
  async takesMany(locks: number): Promise<void> {
    for (let at = 0; at < locks; at += 10_000) {
      const calls = this.redis.pipeline();
      for (let lock = at; lock < Math.min(at + 10_000, locks); lock += 1) {
        const owner = `other-${Math.floor(lock / 100)}`;
        const key = lock % 3 === 0 ? `task:${randomUUID()}` : `pulp:resource_lock:other-${lock}`;
        if (lock % 3 === 2) calls.sadd(key, owner, 'yet-another');
        else calls.set(key, owner);
        calls.sadd(`pulp:owner_locks:${owner}`, key);
        if (lock % 100 === 0) calls.sadd('pulp:active_owners', owner);
      }
      await calls.exec();
    }
  }

  /** Everything in Redis, comparable. */
  async everything(): Promise<Record<string, unknown>> {
    const all: Record<string, unknown> = {};
    for (const key of (await this.redis.keys('*')).sort()) {
      const type = await this.redis.type(key);
      if (type === 'string') all[key] = await this.redis.get(key);
      else if (type === 'set') all[key] = (await this.redis.smembers(key)).sort();
      else all[key] = type;
    }
    return all;
  }

  /** The commands that the server has executed since the statistics were reset, those inside scripts as well. */
  async commands(): Promise<Record<string, number>> {
    const stats = await this.redis.info('commandstats');
    const counts = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
      ([, name = '', count]) => [name, Number(count)] as const,
    );
    return Object.fromEntries(counts.filter(([name]) => !name.startsWith('config') && name !== 'info'));
  }

  async resetCommands(): Promise<void> {
    await this.redis.config('RESETSTAT');
  }

  private async closeOpened(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((pulp) => pulp.close()));
  }
}

async function asAdministrator(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

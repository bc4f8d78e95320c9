import { hostname } from 'node:os';
import { NotConfigured } from './errors.js';
import { checkNamespace, defaultNamespace } from './namespace.js';

/** A PostgreSQL server as plain data: it is sent to a thread of its own, so it holds no functions. */
export interface PostgresOptions {
  host?: string;
  /** Default 5432. */
  port?: number;
  user?: string;
  password?: string;
  database?: string;
  /** TLS; certificates as PEM text. Default: none. */
  ssl?: boolean | { ca?: string; cert?: string; key?: string; rejectUnauthorized?: boolean };
}

/** A Redis server, or the Sentinels that know it, as plain data. For a Cluster give a URL. */
export interface RedisOptions {
  host?: string;
  /** Default 6379. */
  port?: number;
  username?: string;
  password?: string;
  /** Default 0. */
  db?: number;
  /** TLS; certificates as PEM text. Default: none. */
  tls?: { ca?: string; cert?: string; key?: string; rejectUnauthorized?: boolean };
  sentinels?: { host: string; port: number }[];
  /** The master's name among the Sentinels. */
  name?: string;
}

/** Where the state is. Each option stands above its environment variable. */
export interface ConnectionOptions {
  /** PostgreSQL: `postgres://…` or plain options. Environment: HOLDFAST_DATABASE_URL. */
  database?: string | PostgresOptions;
  /**
   * Redis: `redis://…`, `rediss://…`, `redis+sentinel://…`, `redis+cluster://…`, plain options, or `memory:` for
   * a lock table in this process, which then is the only one of its namespace. Environment: HOLDFAST_REDIS_URL.
   */
  redis?: string | RedisOptions;
  /**
   * Names the PostgreSQL schema and the Redis keys: `[a-z][a-z0-9_]{0,39}`. Default `holdfast`. Environment:
   * HOLDFAST_NAMESPACE.
   */
  namespace?: string;
  /** No server at all: PostgreSQL and the lock table run in this process, the only one of its data folder. */
  embedded?: boolean;
  /** Where embedded data is stored. Default `.holdfast`. Environment: HOLDFAST_DATA_DIR. */
  dataDir?: string;
}

export type Configuration =
  | { kind: 'embedded'; namespace: string; dataDir: string }
  | { kind: 'redis'; namespace: string; database: string | PostgresOptions; redis: string | RedisOptions }
  | { kind: 'memory'; namespace: string; database: string | PostgresOptions };

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws NotConfigured, naming what is missing or contradictory. */
export function resolveConfiguration(options: ConnectionOptions, environment: Environment): Configuration {
  const namespace = checkNamespace(
    options.namespace ?? variable(environment, 'HOLDFAST_NAMESPACE') ?? defaultNamespace,
  );
  if (options.embedded === true) return embeddedConfiguration(options, environment, namespace);
  if (options.dataDir !== undefined)
    throw new NotConfigured('"dataDir" is of use only with "embedded: true".');
  const database = options.database ?? variable(environment, 'HOLDFAST_DATABASE_URL');
  const redis = options.redis ?? variable(environment, 'HOLDFAST_REDIS_URL');
  if (database === undefined || redis === undefined) throw missing({ database, redis });
  if (typeof database === 'string' && !/^postgres(ql)?:\/\//.test(database)) {
    throw new NotConfigured('The database URL must look like postgres://user:password@host:5432/database.');
  }
  if (redis === 'memory:') return { kind: 'memory', namespace, database };
  return { kind: 'redis', namespace, database, redis };
}

/** The name of a worker that was given none. */
export function defaultWorkerName(environment: Environment): string {
  return variable(environment, 'HOLDFAST_WORKER_NAME') ?? hostname();
}

/** URLs in the environment stay unused, as a flag stands above them; options that contradict are refused. */
function embeddedConfiguration(
  options: ConnectionOptions,
  environment: Environment,
  namespace: string,
): Configuration {
  for (const option of ['database', 'redis'] as const) {
    if (options[option] === undefined) continue;
    throw new NotConfigured(`"embedded: true" needs no server: leave out "${option}", or "embedded".`);
  }
  const dataDir = options.dataDir ?? variable(environment, 'HOLDFAST_DATA_DIR') ?? '.holdfast';
  if (typeof dataDir !== 'string' || dataDir === '') throw new NotConfigured('"dataDir" must name a folder.');
  return { kind: 'embedded', namespace, dataDir };
}

function missing(given: { database: unknown; redis: unknown }): NotConfigured {
  const names: string[] = [];
  if (given.database === undefined) names.push('HOLDFAST_DATABASE_URL (option "database", --database-url)');
  if (given.redis === undefined) names.push('HOLDFAST_REDIS_URL (option "redis", --redis-url)');
  return new NotConfigured(
    `Not set: ${names.join(' and ')}. Give both servers, or ask for embedded mode (option "embedded", --embedded).`,
  );
}

/** An empty variable counts as one that is not set. */
function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

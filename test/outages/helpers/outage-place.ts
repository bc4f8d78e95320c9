import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createHoldfast, type Holdfast } from 'holdfast';
import pg from 'pg';
import type { TestContext } from 'vitest';
import { startHoldfast, type Started } from '../../cli/run-holdfast.js';
import { assertNothingLeft } from '../../helpers/assert-nothing-left.js';
import { assertJournal, type JournalRules } from '../../helpers/check-journal.js';
import { removeFolder, temporaryFolder } from '../../helpers/server-process.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../../helpers/servers.js';
import { startProxy, type TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitUntil } from '../../helpers/wait-until.js';

const taskFile = fileURLToPath(new URL('outage-tasks.mjs', import.meta.url));

export interface Urls {
  database: string;
  redis: string;
}

/** Where the servers are, and what stands before them. */
export interface Servers {
  /** Default: those of this run. */
  direct?: Partial<Urls>;
  /** For Sentinel and Cluster: nothing can stand before what tells addresses of its own. */
  withoutRedisProxy?: boolean;
}

export interface OutageWorker extends Started {
  readonly incarnation: string;
}

/** A namespace, what is dispatched there, and worker processes that write a journal. Everything ends with the test. */
export interface OutagePlace {
  namespace: string;
  /** The servers' own. */
  direct: Urls;
  /** Between the workers and PostgreSQL; what the test itself does goes by the server's own address. */
  database: TcpProxy;
  /** Between everybody and Redis: all of a namespace are held to one address. Absent where nothing can stand there. */
  redis: TcpProxy | null;
  hf: Holdfast;
  journal: string;
  /** Handlers that are given its path run until it is gone. */
  gate: string;
  openGate(): void;
  /** `holdfast worker`, or `serve`, on these tasks. `env` may name another database URL. */
  start(command: 'worker' | 'serve', args: string[], env?: Record<string, string>): Started;
  /** The worker, once it claims. */
  worker(args?: string[], env?: Record<string, string>): Promise<OutageWorker>;
  /** Rows of the database, for a text that calls the namespace's schema `ns`. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Another PostgreSQL takes the place of the one that there was, for the workers and for the test. */
  leadTo(url: string): void;
  /** How many tasks are in each state. */
  states(): Promise<Record<string, number>>;
  /**
   * Waits until every task is in a final state, ends the workers that still run, and asserts both: never two that conflict
   * ran at one time, and nothing is left.
   */
  end(rules?: JournalRules & { limitMs?: number }): Promise<void>;
}

export async function outagePlace(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { direct: own = {}, withoutRedisProxy = false }: Servers = {},
): Promise<OutagePlace> {
  const direct = { database: sharedPostgresUrl(), redis: sharedRedisUrl(), ...own };
  const namespace = uniqueNamespace();
  const dir = temporaryFolder('outages');
  const [journal, gate] = [`${dir}/journal`, `${dir}/gate`];
  for (const file of [journal, gate]) writeFileSync(file, '');
  const database = await startProxy(direct.database);
  const ofTest = await startProxy(direct.database);
  const redis = withoutRedisProxy ? null : await startProxy(direct.redis);
  const redisUrl = redis?.url ?? direct.redis;
  const hf = await createHoldfast({
    // By its name the sessions of workers are told from these.
    ...{ database: `${ofTest.url}?application_name=test`, redis: redisUrl, namespace, migrate: true },
  });
  const started = new Set<Started>();
  onTestFinished(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all([...started].map(({ ended }) => ended));
    await hf.close();
    await Promise.all([database.stop(), ofTest.stop(), redis?.stop()]);
    if (Object.keys(own).length === 0) await dropNamespace(namespace);
    removeFolder(dir);
  });
  const place: OutagePlace = {
    ...{ namespace, direct, database, redis, hf, journal, gate },
    openGate: () => rmSync(gate, { force: true }),
    start: (command, args, env = {}) => {
      const process = startHoldfast([command, '--tasks', taskFile, ...args], {
        env: {
          ...{
            HOLDFAST_DATABASE_URL: database.url,
            HOLDFAST_REDIS_URL: redisUrl,
            HOLDFAST_NAMESPACE: namespace,
          },
          ...{ JOURNAL: journal, ...env },
        },
      });
      started.add(process);
      void process.ended.then(() => started.delete(process));
      return process;
    },
    worker: async (args = [], env) => claiming(place.start('worker', args, env)),
    sql: (text, values) => rowsOf(direct.database, text.replaceAll('ns.', `"${namespace}".`), values),
    leadTo: (url) => {
      direct.database = url;
      for (const proxy of [database, ofTest]) {
        proxy.leadTo(url);
        proxy.reset();
      }
    },
    states: async () => {
      const rows = await place.sql<{ state: string; n: number }>(
        'SELECT state, count(*)::int AS n FROM ns.tasks GROUP BY state',
      );
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    },
    end: async ({ limitMs = 60_000, ...rules } = {}) => {
      await waitUntil(() => everythingSettled(place), 'every task is in a final state', limitMs);
      for (const { child } of started) child.kill('SIGTERM');
      await Promise.all([...started].map(({ ended }) => ended));
      assertJournal(journal, rules);
      await assertNothingLeft({ databaseUrl: direct.database, redisUrl: direct.redis, namespace });
    },
  };
  return place;
}

async function claiming(process: Started): Promise<OutageWorker> {
  const line = await Promise.race([
    waitUntil(() => /^\{"ready":true.*\}$/m.exec(process.stdout)?.[0], 'the worker claims', 60_000),
    process.ended.then(({ stderr }) => {
      throw new Error(`The worker ended before it claimed:\n${stderr.slice(-2_000)}`);
    }),
  ]);
  const { incarnation } = JSON.parse(line) as { incarnation: string };
  // Not spread: what it has written so far is read when it is asked for.
  return Object.assign(process, { incarnation });
}

async function everythingSettled(place: OutagePlace): Promise<true> {
  const states = await place.states();
  const left = Object.entries(states).filter(
    ([state]) => !['completed', 'failed', 'canceled'].includes(state),
  );
  if (left.length === 0) return true;
  throw new Error(`There still are ${JSON.stringify(Object.fromEntries(left))}.`);
}

async function rowsOf<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

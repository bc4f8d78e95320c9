import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createHoldfast, HoldfastError, type Holdfast, type TaskDefinition } from 'holdfast';
import pg from 'pg';
import { expect } from 'vitest';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { assertJournal, openJournal } from '../helpers/journal.js';
import { removeFolder, temporaryFolder } from '../helpers/server-process.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { startWorkerProcess, type WorkerProcess } from './worker-processes.js';

const taskFile = fileURLToPath(new URL('soak-tasks.mjs', import.meta.url));
const hotResources = 100;
const atOnce = 40;
const rememberedTasks = 2_000;
/** What an operation may answer in a race: anything else is a failure. */
const expectedCodes = new Set(['WrongState', 'ResourcesBusy', 'LockTimeout']);

export interface SoakReport {
  operations: Record<string, number>;
  refusals: Record<string, number>;
  runs: number;
  deploys: number;
  seconds: number;
}

/**
 * So many random operations of every kind, on three worker processes. So many times meanwhile one of them is told to stop and
 * another takes its place. Throws unless every task comes to its end, no two that conflict ever ran at one time, and
 * nothing is left.
 */
export async function soak(operations: number, deploys: number): Promise<SoakReport> {
  const namespace = uniqueNamespace();
  const dir = temporaryFolder('soak');
  const urls = { database: sharedPostgresUrl(), redis: sharedRedisUrl() };
  const env = {
    HOLDFAST_DATABASE_URL: urls.database,
    HOLDFAST_REDIS_URL: urls.redis,
    HOLDFAST_NAMESPACE: namespace,
    JOURNAL: `${dir}/journal`,
  };
  // For what runs at once, in this process.
  process.env['JOURNAL'] = env.JOURNAL;
  const { works } = (await import(taskFile)) as { works: TaskDefinition };
  const hf = await createHoldfast({ ...urls, namespace, migrate: true, tasks: [works] });
  const fleet = await startFleet(env);
  const started = performance.now();
  try {
    const memory = new Memory(env.JOURNAL);
    const counts: Counts = { done: {}, refused: {} };
    for (let deploy = 0; deploy < deploys; deploy += 1) {
      const some = Math.ceil(operations / deploys);
      await Promise.all([operateAtRandom(hf, some, memory, counts), fleet.replaceOne()]);
    }
    await hf.queues.resume('side');
    await everythingSettled(urls.database, namespace);
    const exits = await fleet.stop();
    expect(exits).toEqual(exits.map(() => 0));
    await hf.close();
    const { runs } = assertJournal(env.JOURNAL);
    await assertNothingLeft({ redisUrl: urls.redis, databaseUrl: urls.database, namespace });
    const seconds = Math.round((performance.now() - started) / 1_000);
    return { operations: counts.done, refusals: counts.refused, runs, deploys: exits.length - 3, seconds };
  } finally {
    fleet.kill();
    await hf.close();
    await dropNamespace(namespace);
    removeFolder(dir);
  }
}

type Operation = (hf: Holdfast, memory: Memory) => Promise<unknown>;

/** Ids that were dispatched of late, for operations on tasks that exist. */
class Memory {
  readonly #ids: string[] = [];
  readonly #journal: ReturnType<typeof openJournal>;

  constructor(journalPath: string) {
    this.#journal = openJournal(journalPath);
  }

  remember({ id }: { id: string }): void {
    if (this.#ids.length < rememberedTasks) this.#ids.push(id);
    else this.#ids[below(rememberedTasks)] = id;
  }

  recall(): string {
    return this.#ids[below(this.#ids.length)] ?? '00000000-0000-7000-8000-000000000000';
  }

  get isEmpty(): boolean {
    return this.#ids.length === 0;
  }

  get journal(): ReturnType<typeof openJournal> {
    return this.#journal;
  }
}

/** With how often each is chosen, in parts of the sum. */
const choices: [name: string, weight: number, operation: Operation][] = [
  ['dispatch', 500, (hf, memory) => dispatch(hf, memory, {})],
  ['dispatch later', 50, (hf, memory) => dispatch(hf, memory, { runAt: new Date(Date.now() + below(500)) })],
  ['dispatch with a unique key', 60, (hf, memory) => dispatch(hf, memory, uniqueKey())],
  ['dispatch to the queue that is paused', 50, (hf, memory) => dispatch(hf, memory, { queue: 'side' })],
  ['cancel', 160, (hf, memory) => hf.tasks.cancel(memory.recall())],
  ['retry', 100, (hf, memory) => hf.tasks.retry(memory.recall())],
  ['run at once', 40, runAtOnce],
  ['lock', 40, lock],
  ['pause', 2, (hf) => hf.queues.pause('side')],
  ['resume', 3, (hf) => hf.queues.resume('side')],
];

async function dispatch(hf: Holdfast, memory: Memory, options: Record<string, unknown>): Promise<void> {
  const name = pick(['soak.works', 'soak.works', 'soak.fails', 'soak.rolls-back', 'soak.deaf']);
  const payload = { ms: below(6), failures: below(4) };
  memory.remember(await hf.dispatch(name, payload, { ...resources(), priority: below(3), ...options }));
}

async function runAtOnce(hf: Holdfast, memory: Memory): Promise<void> {
  const options = { ...resources(), immediate: true, deferred: below(2) === 0 };
  memory.remember(await hf.dispatch('soak.works', { ms: below(6) }, options));
}

async function lock(hf: Holdfast, { journal }: Memory): Promise<void> {
  const wanted = resources();
  await using held = await hf.locks.acquire(wanted, { wait: pick([0, 50, 2_000]) });
  const subject = { ...wanted, task: `lock ${held.fence}`, entry: 1, fence: held.fence, order: null };
  journal.start(subject);
  await delay(below(6));
  journal.end(subject);
}

interface Counts {
  done: Record<string, number>;
  refused: Record<string, number>;
}

async function operateAtRandom(
  hf: Holdfast,
  operations: number,
  memory: Memory,
  { done, refused }: Counts,
): Promise<void> {
  let left = operations;
  const operate = async (): Promise<void> => {
    while (left-- > 0) {
      const [name, , operation] = memory.isEmpty ? choices[0]! : choose();
      done[name] = (done[name] ?? 0) + 1;
      try {
        await operation(hf, memory);
      } catch (error) {
        if (!(error instanceof HoldfastError) || !expectedCodes.has(error.code)) throw error;
        refused[error.code] = (refused[error.code] ?? 0) + 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, operate));
}

interface Fleet {
  /** Starts a worker, and tells the eldest to stop. */
  replaceOne(): Promise<void>;
  /** Resolves with the exit statuses of all that there were. */
  stop(): Promise<(number | null)[]>;
  kill(): void;
}

async function startFleet(env: Record<string, string>): Promise<Fleet> {
  const options = ['--concurrency', '20', '--queue', 'default', '--queue', 'side', '--grace', '1s'];
  const start = (): Promise<WorkerProcess> =>
    // Thousands of failures that are meant to be would be told.
    startWorkerProcess(env, options, { taskFile, log: 'ignore' });
  const workers = await Promise.all([start(), start(), start()]);
  const exits: (number | null)[] = [];
  return {
    replaceOne: async () => {
      workers.push(await start());
      exits.push((await workers.shift()?.stop()) ?? null);
    },
    stop: async () => [...exits, ...(await Promise.all(workers.map((worker) => worker.stop())))],
    kill: () => {
      for (const worker of workers) worker.process.kill('SIGKILL');
    },
  };
}

async function everythingSettled(database: string, namespace: string): Promise<void> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const text = `SELECT count(*)::int AS left FROM "${namespace}".tasks
    WHERE state NOT IN ('completed', 'failed', 'canceled') OR take_out IS NOT NULL`;
  try {
    await waitUntil(
      async () => {
        await delay(250);
        const { rows } = await client.query<{ left: number }>(text);
        if (rows[0]?.left === 0) return true;
        throw new Error(`${rows[0]?.left} are left`);
      },
      'every task is in a final state',
      300_000,
    );
  } finally {
    await client.end();
  }
}

function resources(): { exclusive: string[]; shared: string[] } {
  const names = new Set(Array.from({ length: 1 + below(3) }, () => `hot:${below(hotResources)}`));
  const exclusive = [...names].filter(() => below(2) === 0);
  return { exclusive, shared: [...names].filter((name) => !exclusive.includes(name)) };
}

function uniqueKey(): { uniqueKey: string; uniqueMode: 'keep' | 'replace' } {
  return { uniqueKey: `key:${below(50)}`, uniqueMode: pick(['keep', 'replace']) };
}

const weights = choices.reduce((sum, [, weight]) => sum + weight, 0);

function choose(): (typeof choices)[number] {
  let rest = below(weights);
  for (const choice of choices) {
    rest -= choice[1];
    if (rest < 0) return choice;
  }
  return choices[0]!;
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function pick<T>(from: readonly T[]): T {
  return from[below(from.length)] as T;
}

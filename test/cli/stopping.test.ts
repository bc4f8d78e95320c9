import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi, type TestContext } from 'vitest';
import type { Holdfast } from '../../src/index.js';
import { createHoldfast } from '../../src/index.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { startProxy } from '../helpers/tcp-proxy.js';
import { waitUntil } from '../helpers/wait-until.js';
import { startHoldfast, type Started } from './run-holdfast.js';

const taskFile = fileURLToPath(new URL('fixtures/stopping-tasks.mjs', import.meta.url));
const direct = { database: sharedPostgresUrl(), redis: sharedRedisUrl() };

vi.setConfig({ testTimeout: 120_000 });

interface Running {
  hf: Holdfast;
  worker: Started;
  /** Of the tasks, by the names of what they do. */
  ids: Map<string, string>;
  /** Lets the one finish that would finish in time. */
  letFinish(): Promise<void>;
}

/** A worker with a grace of a second that runs a task of each name, each on a resource of that name. */
async function workerThatRuns(
  { onTestFinished }: TestContext,
  names: string[],
  { ttl = '15s', ...urls }: typeof direct & { ttl?: string } = direct,
): Promise<Running> {
  const namespace = uniqueNamespace();
  const hf = await createHoldfast({ ...urls, database: direct.database, namespace, migrate: true });
  onTestFinished(async () => {
    await hf.close();
    await dropNamespace(namespace);
  });
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'go');
  const dispatched = await hf.dispatchMany(
    names.map((name) => ({ name, payload: { file }, exclusive: [name] })),
  );
  const ids = new Map(dispatched.map(({ id }, index) => [names[index] ?? '', id]));
  const worker = startHoldfast(['worker', '--tasks', taskFile, '--grace', '1s', '--ttl', ttl], {
    env: {
      HOLDFAST_DATABASE_URL: urls.database,
      HOLDFAST_REDIS_URL: urls.redis,
      HOLDFAST_NAMESPACE: namespace,
    },
  });
  for (const [name, id] of ids) {
    const runs = async (): Promise<boolean> => (await hf.tasks.get(id)).progress.length > 0;
    await waitUntil(runs, `the handler that ${name} runs`, 60_000);
  }
  return { hf, worker, ids, letFinish: () => writeFile(file, '') };
}

/** How the tasks stand, and whether anybody holds their resources. */
async function whatIsLeft({ hf, ids }: Running): Promise<Record<string, unknown>> {
  const { locks } = await hf.locks.list();
  const heldBySomebody = new Set(
    locks
      .filter(({ holders }) => holders.some(({ owner }) => owner !== null))
      .map(({ resource }) => resource),
  );
  const left: Record<string, unknown> = {};
  for (const [name, id] of ids) {
    const { state, entry, attempt } = await hf.tasks.get(id);
    left[name] = { state, entry, attempt, held: heldBySomebody.has(name) };
  }
  return left;
}

const completed = { state: 'completed', entry: 1, attempt: 1, held: false };
const givenBack = { state: 'waiting', entry: 2, attempt: 0, held: false };
const asAfterACrash = { state: 'running', entry: 1, attempt: 1, held: true };

const stoppable = {
  'finishes in time': completed,
  'heeds its signal': givenBack,
  'completes all the same': completed,
  'ignores SIGTERM in a child': givenBack,
  'spins in a child': givenBack,
};
const unstoppable = 'ignores its signal';
const all = [...Object.keys(stoppable), unstoppable];

describe.concurrent.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('ends a worker once its handlers have finished, or have ended and are given back', async (context) => {
    const running = await workerThatRuns(context, Object.keys(stoppable));
    running.worker.child.kill(signal);
    await running.letFinish();
    expect(await running.worker.ended).toMatchObject({ status: 0 });
    expect(await whatIsLeft(running)).toEqual(stoppable);
    expect((await running.hf.workers.list()).workers).toEqual([]);
  });

  test('ends a worker in spite of a handler that does not heed it, and leaves its task as after a crash', async (context) => {
    const running = await workerThatRuns(context, [unstoppable]);
    running.worker.child.kill(signal);
    const asked = performance.now();
    expect(await running.worker.ended).toMatchObject({ status: 1 });
    // The grace of 1 s, and 3 s to heed the signal.
    expect(performance.now() - asked).toBeGreaterThan(3_900);
    expect(await whatIsLeft(running)).toEqual({ [unstoppable]: asAfterACrash });
  });
});

test.concurrent('a second signal ends a worker at once, whatever its handlers do', async (context) => {
  const running = await workerThatRuns(context, all);
  const { child, ended } = running.worker;
  child.kill('SIGTERM');
  await waitUntil(() => running.worker.stderr.includes('stops: '), 'the worker says that it stops');
  child.kill('SIGINT');
  await ended;
  expect(child.signalCode).toBe('SIGINT');
  expect(await whatIsLeft(running)).toEqual(Object.fromEntries(all.map((name) => [name, asAfterACrash])));
});

test.concurrent('with both stores out of reach a worker that is told to stop ends within its TTL', async (context) => {
  const [database, redis] = await Promise.all([startProxy(direct.database), startProxy(direct.redis)]);
  context.onTestFinished(async () => {
    await Promise.all([database.stop(), redis.stop()]);
  });
  const { worker } = await workerThatRuns(context, all, {
    database: database.url,
    redis: redis.url,
    ttl: '6s',
  });
  database.silence();
  redis.silence();
  const asked = performance.now();
  worker.child.kill('SIGTERM');
  await worker.ended;
  // What it still has to write it cannot: before its TTL of 6 s is over it is fenced.
  expect(performance.now() - asked).toBeLessThan(6_000 + 2_000);
  redis.heal();
});

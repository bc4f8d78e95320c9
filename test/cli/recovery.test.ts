import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DispatchedTask, Holdfast, Task } from '../../src/index.js';
import type { Started } from './run-holdfast.js';
import { createHoldfast } from '../../src/index.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { processLives } from '../helpers/process-lives.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { hasBegun } from './has-begun.js';
import { startHoldfast, taskFile } from './run-holdfast.js';

vi.setConfig({ testTimeout: 120_000 });

const ttlMs = 3_000;
const observationMs = 5_000;

let namespace: string;
let folder: string;
let hf: Holdfast;
let workers: Started[];

beforeEach(async () => {
  namespace = uniqueNamespace();
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  workers = [];
  hf = await createHoldfast({
    ...{ database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace, migrate: true },
  });
});
afterEach(async () => {
  for (const worker of workers) {
    worker.child.kill('SIGCONT');
    worker.child.kill('SIGTERM');
    await worker.ended;
  }
  await hf.close();
  const place = { databaseUrl: sharedPostgresUrl(), redisUrl: sharedRedisUrl(), namespace };
  try {
    await assertNothingLeft(place);
  } finally {
    await dropNamespace(namespace);
    await rm(folder, { recursive: true });
  }
});

function startHoldfastWorker(name: string, ...flags: string[]): Started {
  const env = {
    HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
    HOLDFAST_REDIS_URL: sharedRedisUrl(),
    HOLDFAST_NAMESPACE: namespace,
  };
  const args = ['worker', '--tasks', taskFile, '--name', name, '--ttl', `${ttlMs}ms`, ...flags];
  const worker = startHoldfast(args, { env });
  workers.push(worker);
  return worker;
}

async function startWorker(name: string, ...flags: string[]): Promise<Started> {
  const worker = startHoldfastWorker(name, ...flags);
  const ready = (): boolean => worker.stdout.endsWith('\n') || worker.child.exitCode !== null;
  await waitUntil(ready, 'the worker claims', 60_000);
  return worker;
}

/** A task that holds R until its file is there, and one behind it. */
async function holdAndWait(): Promise<{ held: string; behind: string; letGo: string }> {
  const letGo = join(folder, 'let-go');
  const resources = { exclusive: ['R'] };
  const { id: held } = await hf.dispatch('test.hold', { until: letGo }, resources);
  await hasBegun(hf, held);
  const { id: behind } = await hf.dispatch('test.touch', { file: join(folder, 'touched') }, resources);
  return { held, behind, letGo };
}

async function inState(id: string, state: Task['state'], limitMs = 30_000): Promise<Task> {
  const seen = async (): Promise<Task> => {
    const task = await hf.tasks.get(id);
    if (task.state === state) return task;
    const logs = workers.map(({ stderr }) => stderr.slice(-2_000));
    throw new Error(`It is ${JSON.stringify(task)}; the logs of the workers end with:\n${logs.join('\n')}`);
  };
  return waitUntil(seen, `${id} is ${state}`, limitMs);
}

async function kill(worker: Started): Promise<number> {
  // Not until its output has ended too: a child that outlives it has that as well.
  const exited = once(worker.child, 'exit');
  worker.child.kill('SIGKILL');
  await exited;
  return performance.now();
}

describe('a worker that is killed', () => {
  const moments = [200, ttlMs - 1_000, ttlMs + 1_000];
  test.each(moments)('and comes back under its name after %d ms holds nothing any more', async (ms) => {
    const first = await startWorker('w');
    const { held, behind } = await holdAndWait();
    await kill(first);
    await new Promise((resolve) => setTimeout(resolve, ms));
    await startWorker('w');
    // It takes tasks only after it has cleaned up, so this was settled before it was ready.
    expect(await hf.tasks.get(held)).toMatchObject({ state: 'failed', error: { code: 'WorkerLost' } });
    await inState(behind, 'completed');
    expect((await hf.workers.list()).workers).toHaveLength(1);
  });

  test('with 500 tasks under way leaves all of them to its successor, and no lock', async () => {
    const first = await startWorker('w', '--concurrency', '500');
    const letGo = join(folder, 'let-go');
    const many = (name: string): Promise<DispatchedTask[]> =>
      hf.dispatchMany(
        Array.from({ length: 500 }, (_, n) => ({
          ...{ name, payload: { until: letGo, file: letGo } },
          exclusive: Array.from({ length: 1 + (n % 3) }, (_each, lock) => `many:${n}:${lock}`),
        })),
      );
    const held = await many('test.hold-again');
    const all = async (state: Task['state'], tasks: DispatchedTask[]): Promise<boolean> => {
      const listed = await hf.tasks.list({ state, limit: 1_000 });
      return tasks.every(({ id }) => listed.tasks.some((task) => task.id === id));
    };
    await waitUntil(() => all('running', held), 'all of them run', 60_000);
    await kill(first);
    await writeFile(letGo, '');
    await startWorker('w', '--concurrency', '500');
    const next = await many('test.touch');
    await waitUntil(() => all('completed', [...held, ...next]), 'all are completed', 60_000);
  });

  test('by its own task, again and again, lives on once that has been set aside', async () => {
    const { id } = await hf.dispatch('test.kills-its-process', null, { exclusive: ['R'] });
    const { id: behind } = await hf.dispatch(
      'test.touch',
      { file: join(folder, 'touched') },
      { exclusive: ['R'] },
    );
    for (let crashes = 0; crashes < 3; crashes += 1) {
      const worker = startHoldfastWorker('w');
      expect((await once(worker.child, 'exit'))[1]).toBe('SIGKILL');
    }
    await startWorker('w');
    await inState(behind, 'completed');
    expect(await hf.tasks.get(id)).toMatchObject({
      state: 'failed',
      crashes: 3,
      error: { reason: 'crashed' },
    });
  });

  test('leaves nothing for longer than its TTL and one observation, while others live, which settle once', async () => {
    const first = await startWorker('w');
    const { held, behind } = await holdAndWait();
    await Promise.all([startWorker('other'), startWorker('third')]);
    const killed = await kill(first);
    await inState(behind, 'completed');
    expect(performance.now() - killed).toBeLessThan(ttlMs + observationMs);
    const task = await hf.tasks.get(held);
    expect(task).toMatchObject({ state: 'failed', crashes: 1, attempts: [{ outcome: 'lost' }] });
    await waitUntil(async () => (await hf.workers.list()).workers.length === 2, 'its row to go');
  });

  test('is cleaned up by another where the one that began to was killed in the middle', async () => {
    const first = await startWorker('w');
    const { held, behind } = await holdAndWait();
    const sweeper = await startWorker('sweeper');
    await kill(first);
    await whileRowIsLocked(held, async () => {
      const isReaped = async (): Promise<boolean> => {
        return (await hf.workers.list()).workers.some(({ name, online }) => name === 'w' && !online);
      };
      await waitUntil(isReaped, 'it is declared dead', 15_000);
      await kill(sweeper);
    });
    expect(await hf.tasks.get(held)).toMatchObject({ state: 'running' });
    await startWorker('sweeper');
    await inState(behind, 'completed');
    const task = await hf.tasks.get(held);
    expect(task).toMatchObject({ state: 'failed', crashes: 1, attempts: [{ outcome: 'lost' }] });
  });

  test.runIf(process.platform === 'linux').each(['writes on', 'is frozen'])(
    'and whose child %s is followed by a successor at once, and nothing is written after that',
    async (how) => {
      const first = await startWorker('w', '--isolation', 'child');
      const file = join(folder, 'written');
      const { id } = await hf.dispatch('test.spin', { file }, { exclusive: ['R'] });
      await waitUntil(() => existsSync(file), 'the child writes');
      const child = onlyChildOf(first);
      if (how === 'is frozen') process.kill(child, 'SIGSTOP');
      await kill(first);
      await startWorker('w');
      const { size } = await stat(file);
      expect(await hf.tasks.get(id)).toMatchObject({ state: 'failed', error: { code: 'WorkerLost' } });
      expect(processLives(child)).toBe(false);
      const { id: behind } = await hf.dispatch(
        'test.touch',
        { file: join(folder, 't') },
        { exclusive: ['R'] },
      );
      await inState(behind, 'completed');
      expect((await stat(file)).size).toBe(size);
    },
  );

  test('and whose row was deleted is an orphan, which goes after a TTL of observation', async () => {
    const first = await startWorker('w');
    const { behind } = await holdAndWait();
    await startWorker('other');
    const [row] = (await hf.workers.list()).workers.filter(({ name }) => name === 'w');
    await kill(first);
    await deleteWorkerRow(row?.incarnation ?? '');
    await inState(behind, 'completed');
  });
});

describe('a worker that is frozen', () => {
  test('is left alone by its successor while it may live, and can do nothing once that has taken over', async () => {
    const first = await startWorker('w', '--isolation', 'child');
    const { held, behind, letGo } = await holdAndWait();
    first.child.kill('SIGSTOP');
    await startWorker('w');
    expect(await hf.tasks.get(held)).toMatchObject({ state: 'running' });
    await inState(held, 'failed');
    const { id: later } = await hf.dispatch('test.hold', { until: letGo }, { exclusive: ['R'] });
    await inState(behind, 'completed');
    await inState(later, 'running');
    first.child.kill('SIGCONT');
    expect((await first.ended).status).not.toBe(0);
    expect(await hf.tasks.get(later)).toMatchObject({ state: 'running' });
    expect((await hf.locks.list({ resource: 'R' })).locks[0]?.holders).toMatchObject([{ task: later }]);
    expect(existsSync(letGo)).toBe(false);
    await writeFile(letGo, '');
    await inState(later, 'completed');
  });

  test('is followed at once by one that has the name for itself', async () => {
    const first = await startWorker('w');
    const { held, behind } = await holdAndWait();
    first.child.kill('SIGSTOP');
    await startWorker('w', '--sole-name');
    expect(await hf.tasks.get(held)).toMatchObject({ state: 'failed', error: { code: 'WorkerLost' } });
    await inState(behind, 'completed');
    first.child.kill('SIGCONT');
    expect((await first.ended).status).not.toBe(0);
  });
});

function onlyChildOf({ child: { pid } }: Started): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  expect(children).toHaveLength(1);
  return Number(children[0]);
}

async function whileRowIsLocked(id: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT FROM "${namespace}".tasks WHERE id = $1 FOR UPDATE`, [id]);
    await work();
  } finally {
    await client.end();
  }
}

async function deleteWorkerRow(incarnation: string): Promise<void> {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  await client.query(`DELETE FROM "${namespace}".workers WHERE incarnation = $1`, [incarnation]);
  await client.end();
}

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Holdfast, Task } from '../../src/index.js';
import type { Started } from './run-holdfast.js';
import { createHoldfast } from '../../src/index.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { processLives } from '../helpers/process-lives.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { holdfastHere } from './run-here.js';
import { hasBegun } from './has-begun.js';
import { startHoldfast, taskFile } from './run-holdfast.js';

vi.setConfig({ testTimeout: 120_000 });

interface ServedWorker {
  name: string;
  incarnation: string;
  pid: number;
}

let namespace: string;
let folder: string;
let hf: Holdfast;
let services: Started[];
/** What a failed test may leave frozen, with the output of its service. */
let frozen: number[];

beforeEach(async () => {
  namespace = uniqueNamespace();
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  services = [];
  frozen = [];
  hf = await createHoldfast({
    ...{ database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace, migrate: true },
  });
});
afterEach(async () => {
  for (const pid of frozen.filter(processLives)) process.kill(pid, 'SIGKILL');
  for (const { child, ended } of services) {
    child.kill('SIGTERM');
    await ended;
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

function environment(): Record<string, string> {
  return {
    HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
    HOLDFAST_REDIS_URL: sharedRedisUrl(),
    HOLDFAST_NAMESPACE: namespace,
  };
}

/** With a TTL that no test lives through: whatever is settled, nobody has watched a counter for that. */
async function serve(...flags: string[]): Promise<{ service: Started; workers: ServedWorker[] }> {
  const args = ['serve', '--tasks', taskFile, '--name', 'w', '--ttl', '10m', ...flags];
  const service = startHoldfast(args, { env: environment() });
  services.push(service);
  const ready = (): boolean => service.stdout.endsWith('\n') || service.child.exitCode !== null;
  await waitUntil(ready, 'all workers claim', 60_000);
  const { workers } = JSON.parse(service.stdout) as { workers: ServedWorker[] };
  return { service, workers };
}

async function inState(id: string, state: Task['state'], limitMs = 30_000): Promise<Task> {
  const seen = async (): Promise<Task | null> => {
    const task = await hf.tasks.get(id);
    return task.state === state ? task : null;
  };
  return waitUntil(seen, `${id} is ${state}`, limitMs);
}

/** A task that holds R until its file is there, and the worker that runs it. */
async function hold(workers: ServedWorker[]): Promise<{ id: string; on: ServedWorker; letGo: string }> {
  const letGo = join(folder, 'let-go');
  const { id } = await hf.dispatch('test.hold', { until: letGo }, { exclusive: ['R'] });
  const { worker } = await hasBegun(hf, id);
  const on = workers.find(({ incarnation }) => incarnation === worker?.incarnation);
  if (on === undefined) throw new Error(`Nobody knows the worker that runs ${id}.`);
  return { id, on, letGo };
}

async function touch(): Promise<string> {
  const { id } = await hf.dispatch('test.touch', { file: join(folder, 'touched') }, { exclusive: ['R'] });
  return id;
}

async function stopsToTakeTasks(service: Started): Promise<void> {
  await waitUntil(() => service.stderr.includes('stops: takes no more tasks'), 'a worker stops');
}

function linesWith(message: string, { stderr }: Started): Record<string, unknown>[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
}

const lost = { state: 'failed', error: { code: 'WorkerLost' }, crashes: 1 };

describe('serve', () => {
  test('says who claims, restarts whom it loses, frees at once what that held, and stops in order', async () => {
    const { service, workers } = await serve('--workers', '2', '--queue', 'default', '--grace', '20s');
    expect(workers.map(({ name }) => name)).toEqual(['w-1', 'w-2']);
    const listed = (await hf.workers.list()).workers;
    const byName = Object.fromEntries(listed.map((each) => [each.name, each]));
    for (const { name, incarnation, pid } of workers) {
      expect(byName[name]).toMatchObject({ incarnation, pid, ttlMs: 600_000 });
    }

    const { id, on } = await hold(workers);
    const other = workers.find((each) => each !== on) as ServedWorker;
    const behind = await touch();
    process.kill(on.pid, 'SIGKILL');
    const killed = performance.now();
    expect(await inState(id, 'failed')).toMatchObject(lost);
    // By the service, and not by the successor.
    const cleaned = (): boolean =>
      linesWith('cleaned up after a lost worker process', service).some(
        ({ incarnation }) => incarnation === on.incarnation,
      );
    await waitUntil(cleaned, 'the service says that it is cleaned up after');
    expect(performance.now() - killed).toBeLessThan(5_000);
    await inState(behind, 'completed');

    const again = await waitUntil(async () => {
      const all = (await hf.workers.list()).workers;
      const successor = all.find(
        ({ name, incarnation }) => name === on.name && incarnation !== on.incarnation,
      );
      return all.length === 2 ? successor : undefined;
    }, 'it is back under its name');
    expect(performance.now() - killed).toBeGreaterThan(1_000);
    expect(again.pid).not.toBe(on.pid);
    const told = linesWith('a worker process ended unasked, and is started again', service);
    expect(told).toMatchObject([{ worker: on.name, incarnation: on.incarnation, signal: 'SIGKILL' }]);

    // Its tasks finish within the grace.
    const last = await hf.dispatch('test.hold', { until: join(folder, 'last') }, { exclusive: ['R'] });
    const { worker } = await inState(last.id, 'running');
    const runsOn = worker?.incarnation === again.incarnation ? again.pid : other.pid;
    service.child.kill('SIGTERM');
    await stopsToTakeTasks(service);
    // As systemd does, which signals every process of a service.
    process.kill(runsOn, 'SIGTERM');
    await writeFile(join(folder, 'last'), '');
    const ended = await service.ended;
    expect(ended.status).toBe(0);
    expect(ended.stdout.trim().split('\n')).toHaveLength(1);
    expect(await hf.tasks.get(last.id)).toMatchObject({ state: 'completed' });
    expect((await hf.workers.list()).workers).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'takes nothing over before the children of a lost worker are dead',
    async () => {
      const { workers } = await serve('--workers', '1', '--isolation', 'child');
      const file = join(folder, 'written');
      const { id } = await hf.dispatch('test.spin', { file }, { exclusive: ['R'] });
      await waitUntil(() => existsSync(file), 'the child writes');
      const [worker] = workers as [ServedWorker];
      const child = onlyChildOf(worker.pid);
      frozen.push(child);
      // Its watchdog is frozen too.
      process.kill(child, 'SIGSTOP');
      const { size } = await stat(file);
      process.kill(worker.pid, 'SIGKILL');
      await inState(id, 'failed', 5_000);
      expect(processLives(child)).toBe(false);
      expect((await stat(file)).size).toBe(size);
    },
  );

  test('leaves a frozen worker and its tasks alone, and kills it where it does not stop', async () => {
    const { service, workers } = await serve('--workers', '1', '--grace', '0');
    const { id, on } = await hold(workers);
    frozen.push(on.pid);
    process.kill(on.pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await hf.tasks.get(id)).toMatchObject({ state: 'running', worker: { name: 'w-1' } });
    service.child.kill('SIGTERM');
    expect((await service.ended).status).toBe(1);
    expect(await hf.tasks.get(id)).toMatchObject(lost);
    expect((await hf.workers.list()).workers).toEqual([]);
  });

  test('kills its workers at a second signal, and cleans up after them', async () => {
    const { service, workers } = await serve('--workers', '1');
    const { id } = await hold(workers);
    service.child.kill('SIGTERM');
    await stopsToTakeTasks(service);
    service.child.kill('SIGINT');
    await service.ended;
    expect(service.child.signalCode).toBe('SIGINT');
    expect(await hf.tasks.get(id)).toMatchObject(lost);
    expect((await hf.workers.list()).workers).toEqual([]);
  });

  test('that is killed is followed by its workers, which stop in order', async () => {
    const { service, workers } = await serve('--workers', '1');
    const { id, letGo } = await hold(workers);
    const exited = once(service.child, 'exit');
    service.child.kill('SIGKILL');
    await exited;
    await stopsToTakeTasks(service);
    await writeFile(letGo, '');
    // Until nobody has its output any more.
    await service.ended;
    expect(await hf.tasks.get(id)).toMatchObject({ state: 'completed', attempt: 1, crashes: 0 });
    expect((await hf.workers.list()).workers).toEqual([]);
  });

  test('ends with the status and the message of a worker that cannot work as it was started', async () => {
    const file = join(folder, 'broken.mjs');
    await writeFile(file, 'export default (');
    const args = ['serve', '--workers', '3', '--tasks', file, '--name', 'w'];
    const service = startHoldfast(args, { env: environment() });
    services.push(service);
    const { status, stdout, stderr } = await service.ended;
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    // Once, however many workers there are to be.
    expect(stderr.match(/cannot be imported/g)).toHaveLength(1);
    expect((await hf.workers.list()).workers).toEqual([]);
  });
});

test.each([
  ['--workers is missing', [], {}, /--workers/],
  ['workers are none', ['--workers', '0'], {}, /1 … 1000/],
  ['data is embedded', ['--workers', '1', '--embedded'], {}, /Embedded data/],
  ['the lock table is in memory', ['--workers', '1'], { HOLDFAST_REDIS_URL: 'memory:' }, /in memory/],
  ['the grace is none', ['--workers', '1', '--grace', 'soon'], {}, /--grace/],
])('serve is refused as wrong usage where %s', async (_, flags, env, message) => {
  const args = ['serve', '--tasks', taskFile, ...flags];
  const { status, stdout, stderr } = await holdfastHere(args, { ...environment(), ...env });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

function onlyChildOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  expect(children).toHaveLength(1);
  return Number(children[0]);
}

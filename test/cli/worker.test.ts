import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Holdfast } from '../../src/index.js';
import type { Started } from './run-holdfast.js';
import { createHoldfast } from '../../src/index.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { waitUntil } from '../helpers/wait-until.js';
import { bin, holdfast, startHoldfast, taskFile } from './run-holdfast.js';

const namespace = uniqueNamespace();
const env = {
  HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
  HOLDFAST_REDIS_URL: sharedRedisUrl(),
  HOLDFAST_NAMESPACE: namespace,
};

vi.setConfig({ testTimeout: 60_000 });

let hf: Holdfast;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  hf = await createHoldfast({
    database: sharedPostgresUrl(),
    redis: sharedRedisUrl(),
    namespace,
    migrate: true,
  });
});
afterAll(async () => {
  await hf.close();
  await dropNamespace(namespace);
  await rm(folder, { recursive: true });
});

/** A worker with a handler that runs, heeds no signal, and never ends. */
async function busyWorker(...flags: string[]): Promise<Started> {
  const worker = startHoldfast(['worker', '--tasks', taskFile, '--name', 'busy', ...flags], { env });
  const { id } = await hf.dispatch('test.hold', { until: '/nonexistent' });
  await waitUntil(async () => (await hf.tasks.get(id)).state === 'running', 'the task to run', 30_000);
  return worker;
}

describe('a task file that keeps something open', () => {
  it('keeps no command from ending', async () => {
    const file = join(folder, 'open.mjs');
    await writeFile(file, `setInterval(() => {}, 1_000);\nexport * from ${JSON.stringify(taskFile)};`);
    const dispatch = ['dispatch', 'test.fail', '--queue', 'nobody', '--tasks', file];
    expect(await holdfast(dispatch, { env })).toMatchObject({ status: 0 });
    const worker = startHoldfast(['worker', '--tasks', file], { env });
    await waitUntil(() => worker.stdout.endsWith('\n'), 'the ready line', 30_000);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ status: 0 });
  });
});

describe('holdfast worker', () => {
  it('that was fenced ends, whatever its handlers do', async () => {
    const worker = await busyWorker('--ttl', '2s');
    worker.child.kill('SIGSTOP');
    // Its deadline has passed when others may declare it dead.
    const frozen = performance.now();
    await waitUntil(() => performance.now() - frozen > 2_500, 'the deadline to pass');
    worker.child.kill('SIGCONT');
    // By itself, or by its heartbeat where a busy machine keeps it from that.
    const { status } = await worker.ended;
    expect(status === 1 || worker.child.signalCode === 'SIGKILL').toBe(true);
    expect(worker.stderr).toMatch(/"msg":"fenced: it may no longer act"/);
  });

  it('that was fenced is killed where a handler has its thread', async () => {
    const file = join(folder, 'spin');
    const worker = startHoldfast(['worker', '--tasks', taskFile, '--name', 'spins', '--ttl', '2s'], { env });
    await hf.dispatch('test.spin', { file });
    await waitUntil(() => existsSync(file), 'the handler to write', 30_000);
    worker.child.kill('SIGSTOP');
    const frozen = performance.now();
    await waitUntil(() => performance.now() - frozen > 2_500, 'the deadline to pass');
    worker.child.kill('SIGCONT');
    const woken = performance.now();
    expect(await worker.ended).toMatchObject({ status: null });
    expect(worker.child.signalCode).toBe('SIGKILL');
    expect(performance.now() - woken).toBeLessThan(2_000);
  });

  it('waits for its tasks at the first SIGTERM, and ends at the second', async () => {
    const worker = await busyWorker();
    worker.child.kill('SIGTERM');
    await waitUntil(() => worker.stderr.includes('stops: '), 'the worker to say that it stops');
    expect(worker.child.exitCode).toBeNull();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ status: null });
  });

  it('stops in order when the process that started it is gone', async () => {
    const child = spawn(process.execPath, [bin, 'worker', '--tasks', taskFile, '--name', 'child'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    });
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
    const { workers } = await hf.workers.list();
    expect(workers.filter(({ name }) => name === 'child')).toEqual([]);
  });
});

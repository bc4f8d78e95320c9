import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { processLives } from '../../test/helpers/process-lives.js';
import { sharedPostgresUrl } from '../../test/helpers/servers.js';
import { startProxy, type TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { createWorkerRows, type WorkerRow, type WorkerRows } from '../../test/helpers/worker-row.js';
import { createChildPool } from './child-pool.js';
import { newWatchdogAddress } from './watchdog-address.js';

const ttlMs = 3_000;
/** For processes to come up on a busy machine. */
const startLimitMs = 30_000;
let rows: WorkerRows;
let folder: string;
let row: WorkerRow;
let proxy: TcpProxy;
let parent: ChildProcess | null = null;
let events: Record<string, unknown>[] = [];

vi.setConfig({ testTimeout: 60_000 });

beforeAll(async () => {
  rows = await createWorkerRows();
});

afterAll(() => rows.drop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-watchdog-'));
  row = await rows.register(ttlMs);
  proxy = await startProxy(sharedPostgresUrl());
  events = [];
});

afterEach(async () => {
  parent?.kill('SIGKILL');
  parent = null;
  for (const pid of writers()) if (processLives(pid)) process.kill(pid, 'SIGKILL');
  await proxy.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startParent(job: { name: string; payload: unknown } | null): ChildProcess {
  const { namespace, incarnation } = row;
  const beater = { kind: 'postgres', connection: proxy.url, namespace };
  const file = fileURLToPath(new URL('child-fixtures/parent.mjs', import.meta.url));
  const started = spawn(process.execPath, [file, JSON.stringify({ beater, incarnation, ttlMs, job })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: started.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as Record<string, unknown>);
  });
  parent = started;
  return started;
}

/** A child that writes in a busy loop, and its own child that does so too. */
async function startWriters(): Promise<ChildProcess> {
  const started = startParent({ name: 'write-forever', payload: join(folder, 'written') });
  await waitUntil(
    () => size('child') > 0 && size('grandchild') > 0,
    'child and grandchild write',
    startLimitMs,
  );
  return started;
}

function writers(): number[] {
  const file = join(folder, 'written.pids');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s/).map(Number) : [];
}

function size(who: 'child' | 'grandchild'): number {
  return statSync(join(folder, `written.${who}`)).size;
}

async function expectWritersDead(limitMs: number): Promise<number> {
  const started = performance.now();
  await waitUntil(() => !writers().some(processLives), 'both writers are dead', limitMs);
  const ms = performance.now() - started;
  const sizes = [size('child'), size('grandchild')];
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([size('child'), size('grandchild')]).toEqual(sizes);
  return ms;
}

describe('a child that writes in a busy loop, and its own child', () => {
  test('stop at once when their parent is killed', async () => {
    const killed = await startWriters();
    killed.kill('SIGKILL');
    await expectWritersDead(1_000);
  });

  test('stop before the TTL is over when their parent is frozen', async () => {
    const frozen = await startWriters();
    frozen.kill('SIGSTOP');
    expect(await expectWritersDead(ttlMs)).toBeGreaterThan(ttlMs / 3);
  });

  test('stop before the TTL is over when PostgreSQL falls silent, and their parent knows it is fenced', async () => {
    await startWriters();
    proxy.silence();
    await expectWritersDead(ttlMs);
    await waitUntil(() => events.some((event) => 'fenced' in event), 'the parent is fenced');
  });

  test('stop with the next beat when the worker is reaped', async () => {
    await startWriters();
    await row.reap();
    await expectWritersDead(ttlMs / 3 + 500);
  });

  test('live on as long as beats are confirmed, also after the child alone was frozen', async () => {
    await startWriters();
    const [child = 0] = writers();
    process.kill(child, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1.2 * ttlMs));
    const before = size('child');
    process.kill(child, 'SIGCONT');
    await waitUntil(() => size('child') > before, 'the child writes again');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(writers().every(processLives)).toBe(true);
  });
});

describe('a worker process that is frozen for longer than its TTL', () => {
  test('may not act, first thing when it goes on', async () => {
    const frozen = startParent(null);
    await waitUntil(() => events.some((event) => event['may'] === true), 'it may act', startLimitMs);
    frozen.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ttlMs + 500));
    frozen.kill('SIGCONT');
    await waitUntil(() => events.some((event) => event['may'] === false), 'it may not act any more');
    expect(events.slice(0, 2)).toEqual([{ started: true }, { may: true, aborted: false }]);
    expect(events[2]).toEqual({ fenced: expect.stringContaining('in time') });
  });
});

describe('no task code is loaded', () => {
  const marked = {
    name: 'marked',
    handler: 'run' as const,
    payload: null,
    context: { task: {} as never, attempt: 1, fence: '1' },
  };
  const requests = { progress: () => {}, log: () => {}, dispatch: () => Promise.reject(new Error('No.')) };
  const taskFiles = [fileURLToPath(new URL('child-fixtures/marks-at-import.mjs', import.meta.url))];
  let mark: string;

  beforeEach(() => {
    mark = join(folder, 'mark');
    process.env['HOLDFAST_TEST_MARK'] = mark;
  });

  test('where the watchdog can reach no heartbeat', async () => {
    const pool = createChildPool({ taskFiles, watchdogAddress: newWatchdogAddress() });
    expect(await pool.run(marked, requests).outcome).toMatchObject({ status: 'not-started' });
    expect(existsSync(mark)).toBe(false);
    await pool.stop();
  });

  test('before the watchdog has a deadline', async () => {
    const watchdogAddress = newWatchdogAddress();
    let reached = false;
    const mute = createServer((socket) => {
      reached = true;
      socket.on('error', () => {});
    });
    mute.listen({ path: watchdogAddress });
    const pool = createChildPool({ taskFiles, watchdogAddress, loadLimitMs: 2_000 });
    expect(await pool.run(marked, requests).outcome).toMatchObject({ status: 'not-started' });
    expect([reached, existsSync(mark)]).toEqual([true, false]);
    await pool.stop();
    mute.close();
  });
});

test('a process that starts and stops a heartbeat and a pool of children ends by itself', async () => {
  const started = startParent({ name: 'echo', payload: 'done' });
  let exited: number | null | undefined;
  started.on('exit', (code) => (exited = code));
  await waitUntil(() => exited !== undefined, 'it has ended', startLimitMs);
  expect(exited).toBe(0);
  expect(events).toEqual([{ started: true }, { status: 'completed', result: 'done' }]);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Holdfast } from '../../src/index.js';
import type { Started } from './run-holdfast.js';
import { dropNamespace, sharedPostgresUrl, sharedRedisUrl, uniqueNamespace } from '../helpers/servers.js';
import { createHoldfast } from '../../src/index.js';
import { waitUntil } from '../helpers/wait-until.js';
import { holdfastHere, holdfastJsonHere } from './run-here.js';
import { holdfast, holdfastJson, startHoldfast, taskFile } from './run-holdfast.js';

const namespace = uniqueNamespace();
const env = {
  HOLDFAST_DATABASE_URL: sharedPostgresUrl(),
  HOLDFAST_REDIS_URL: sharedRedisUrl(),
  HOLDFAST_NAMESPACE: namespace,
};
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

// Each of these tests starts several processes.
vi.setConfig({ testTimeout: 180_000 });

let folder: string;
/** What a test needs besides the command that it is about. */
let hf: Holdfast;
const workers: Started[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  hf = await createHoldfast({ database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace });
});
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.child.kill('SIGTERM');
    await worker.ended;
  }
});
afterAll(async () => {
  await hf.close();
  await rm(folder, { recursive: true });
  await dropNamespace(namespace);
});

async function startWorker(...flags: string[]): Promise<Started> {
  const worker = startHoldfast(['worker', '--tasks', taskFile, '--name', 'cli-test', ...flags], { env });
  workers.push(worker);
  await waitUntil(
    () => worker.stdout.endsWith('\n') || worker.child.exitCode !== null,
    'the ready line',
    30_000,
  );
  return worker;
}

describe('holdfast migrate', () => {
  it('tells what is pending, applies it, and then has nothing to do', async () => {
    const check = await holdfastHere(['migrate', '--check', '--json'], env);
    expect(check.status).toBe(1);
    const { pending } = JSON.parse(check.stdout) as { pending: string[] };
    expect(pending.length).toBeGreaterThan(0);
    expect((await holdfastHere(['tasks', 'list'], env)).stderr).toContain('WrongSchema: ');

    expect(await holdfastJsonHere(['migrate'], env)).toEqual({ ok: true, applied: pending, pending: [] });
    const again = await holdfastHere(['migrate'], env);
    expect(again).toMatchObject({ status: 0, stdout: 'The schema is up to date.\n', stderr: '' });
    expect((await holdfastHere(['migrate', '--check'], env)).status).toBe(0);
  });

  it('lets several run at once', async () => {
    const other = { ...env, HOLDFAST_NAMESPACE: uniqueNamespace() };
    const ended = await Promise.all(Array.from({ length: 4 }, () => holdfast(['migrate'], { env: other })));
    await dropNamespace(other.HOLDFAST_NAMESPACE);
    expect(ended.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
  });
});

describe('an idle namespace', () => {
  it('has empty lists', async () => {
    expect(await holdfastJsonHere(['locks', 'owners'], env)).toEqual({ owners: [], next: null });
    expect(await holdfastHere(['tasks', 'list'], env)).toMatchObject({ stdout: 'No tasks.\n', stderr: '' });
  });
});

describe('holdfast dispatch --immediate', () => {
  const flags = ['--payload', '{"a":2,"b":3}', '--tasks', taskFile, '--immediate'];

  it('runs the task in the process of the command, which ends with it', async () => {
    const printed = await holdfastHere(['dispatch', 'test.add', ...flags], env);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    const task = await hf.tasks.get(printed.stdout.trim());
    expect(task).toMatchObject({ state: 'completed', result: { sum: 5 }, attempt: 1 });
    const waited = await holdfastJsonHere(['dispatch', 'test.add', ...flags, '--wait'], env);
    expect(waited).toMatchObject({ state: 'completed', result: { sum: 5 } });
    expect((await hf.workers.list()).workers).toEqual([]);
  });

  it('exits 1 where a resource is held, and stores nothing', async () => {
    const holder = await createHoldfast({
      database: sharedPostgresUrl(),
      redis: sharedRedisUrl(),
      namespace,
    });
    await holder.locks.acquire({ exclusive: ['number:2'] }, { wait: 0 });
    const before = (await hf.tasks.list({ name: 'test.add' })).tasks.length;
    const { status, stdout, stderr } = await holdfastHere(['dispatch', 'test.add', ...flags], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('ResourcesBusy: ');
    expect((await hf.tasks.list({ name: 'test.add' })).tasks).toHaveLength(before);
    await holder.close();
  });

  it('is wrong usage without --tasks, and in a batch', async () => {
    const bare = await holdfastHere(['dispatch', 'test.add', '--immediate'], env);
    expect(bare).toMatchObject({ status: 2, stdout: '' });
    const batch = await holdfastHere(['dispatch', '--batch', '-', '--immediate', '--tasks', taskFile], env);
    expect(batch).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('holdfast dispatch', () => {
  it('prints the id alone, or the whole task with --json', async () => {
    const { stdout, stderr, status } = await holdfastHere(['dispatch', 'later', '--queue', 'nobody'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);

    const flags = ['--payload', '{"a":1}', '--exclusive', 'x', '--exclusive', 'y', '--shared', 'z'];
    const more = ['--priority', '-3', '--run-at', '2100-01-01T00:00:00Z', '--queue', 'nobody'];
    const task = await holdfastJsonHere(['dispatch', 'later', ...flags, ...more], env);
    expect(task).toEqual({
      ...{ id: uuid, name: 'later', state: 'waiting', queue: 'nobody', payload: { a: 1 } },
      ...{ exclusive: ['x', 'y'], shared: ['z'], priority: -3, entry: 1, attempt: 0, maxAttempts: null },
      ...{ crashes: 0, fence: null, worker: null, group: null, parent: null, uniqueKey: null },
      ...{ runAt: '2100-01-01T00:00:00.000Z', createdAt: isoTime, startedAt: null, finishedAt: null },
      ...{ progress: [], result: null, error: null, attempts: [], rollback: null },
    });
  });

  it('keeps the task that has the unique key, or replaces it', async () => {
    const args = ['dispatch', 'keyed', '--queue', 'nobody', '--unique-key', 'k'];
    const first = (await holdfastJsonHere(args, env)) as { id: string };
    expect(first).toMatchObject({ uniqueKey: 'k' });
    expect((await holdfastHere(args, env)).stdout).toBe(`${first.id}\n`);
    const second = (await holdfastJsonHere([...args, '--unique-mode', 'replace'], env)) as { id: string };
    expect(await hf.tasks.get(first.id)).toMatchObject({ state: 'canceled' });
    const line = JSON.stringify({ name: 'keyed', uniqueKey: 'k', uniqueMode: 'keep' });
    const batch = ['dispatch', '--batch', '-'];
    expect(await holdfastJson(batch, { env, stdin: `${line}\n${line}` })).toEqual({
      dispatched: 2,
      ids: [second.id, second.id],
    });
  });

  it('waits for the end with --wait, and exits 1 when the task failed', async () => {
    await startWorker();
    const done = ['dispatch', 'test.add', '--payload', '{"a":1,"b":2}', '--wait', '--tasks', taskFile];
    expect(await holdfastJsonHere(done, env)).toMatchObject({ state: 'completed', result: { sum: 3 } });
    const failed = await holdfastHere(['dispatch', 'test.fail', '--wait'], env);
    expect(failed.status).toBe(1);
    expect(failed.stdout).toMatch(/^state +failed$/m);
    expect(failed.stdout).toMatch(/^error .*as it should$/m);
  });

  it('checks the payload where the definition is given', async () => {
    const bad = ['dispatch', 'test.add', '--payload', '{"a":"x"}', '--tasks', taskFile];
    const { status, stderr, stdout } = await holdfastHere(bad, env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('InvalidTask: Task "test.add": the payload does not fit. a: ');
  });
});

describe('holdfast dispatch --batch', () => {
  it('dispatches 10,000 lines of a file in order', async () => {
    const file = join(folder, 'batch.jsonl');
    const lines = Array.from(
      { length: 10_000 },
      (_, n) => `{"name":"many","queue":"nobody","payload":${n}}\n`,
    );
    await writeFile(file, lines.join(''));
    const { dispatched, ids } = (await holdfastJsonHere(['dispatch', '--batch', file], env)) as {
      dispatched: number;
      ids: string[];
    };
    expect({ dispatched, distinct: new Set(ids).size }).toEqual({ dispatched: 10_000, distinct: 10_000 });
    for (const n of [0, 999, 1_000, 9_999]) {
      expect(await hf.tasks.get(ids[n] ?? '')).toMatchObject({ payload: n });
    }
  });

  it('dispatches nothing when any line is bad, wherever it is', async () => {
    const good = '{"name":"never","queue":"nobody"}\n'.repeat(3_000);
    for (const bad of ['{"name":"never",}', '{"name":"never","exclusive":[""]}']) {
      const { status, stdout, stderr } = await holdfast(['dispatch', '--batch', '-'], {
        env,
        stdin: `${good}${bad}\n${good}`,
      });
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^InvalidTask: Line 3001: .*Nothing has been dispatched\.\n$/s);
    }
    expect(await holdfastJsonHere(['tasks', 'list', '--name', 'never'], env)).toMatchObject({ tasks: [] });
  });

  it('reads stdin, and waits for all with --wait', async () => {
    await startWorker();
    const stdin = '{"name":"test.add","payload":{"a":1,"b":1}}\n\n{"name":"test.fail"}';
    const { status, stdout } = await holdfast(['dispatch', '--batch', '-', '--wait'], { env, stdin });
    expect(status).toBe(1);
    expect(stdout.split('\n').sort()).toEqual(['', '1 completed', '1 failed']);
  });
});

describe('holdfast tasks', () => {
  it('lists by name and state, in pages', async () => {
    for (const name of ['listed', 'other', 'listed']) await hf.dispatch(name, null, { queue: 'nobody' });
    const args = [
      'tasks',
      'list',
      '--name',
      'listed',
      '--state',
      'waiting',
      '--state',
      'running',
      '--limit',
      '1',
    ];
    const first = (await holdfastJsonHere(args, env)) as { tasks: { id: string }[]; next: string };
    expect(first.tasks).toEqual([
      expect.objectContaining({ name: 'listed', state: 'waiting', createdAt: isoTime }),
    ]);
    const second = (await holdfastJsonHere([...args, '--after', first.next], env)) as typeof first;
    expect(second.tasks).toHaveLength(1);
    expect(second.tasks[0]?.id).not.toBe(first.tasks[0]?.id);
    expect(second.next).toBeNull();

    const text = await holdfastHere(args, env);
    expect(text.stdout).toMatch(
      /^ID +NAME +STATE +ATTEMPT +CREATED +TOOK +WORKER\n[0-9a-f-]{36} +listed +waiting/,
    );
    expect(text.stderr).toBe(`There is more: --after ${first.next}\n`);
  });

  it('knows which states there are', async () => {
    const { status, stderr } = await holdfastHere(['tasks', 'list', '--state', 'runing'], env);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('Did you mean "running"?') as string,
    });
  });

  it('cancels what can be, and tells what cannot', async () => {
    const { id } = await hf.dispatch('later', null, { queue: 'nobody' });
    const unknown = '018f0000-0000-7000-8000-000000000000';
    const both = await holdfastJsonHere(['tasks', 'cancel', unknown, id], env);
    expect(both).toEqual({
      tasks: [expect.objectContaining({ id, state: 'canceled', finishedAt: isoTime })],
      refused: [{ id: unknown, code: 'NotFound', message: expect.stringContaining(unknown) as string }],
    });
    const again = await holdfastHere(['tasks', 'cancel', id], env);
    expect(again).toMatchObject({ status: 0, stdout: `${id} canceled\n`, stderr: '' });
    expect(await holdfastHere(['tasks', 'cancel', unknown], env)).toMatchObject({ status: 1, stdout: '' });
  });

  it('retries what can be, and tells what cannot', async () => {
    const [one, two] = await hf.dispatchMany([{ task: 'retried' }, { task: 'retried' }]);
    const ids = [one?.id ?? '', two?.id ?? ''];
    const [id = ''] = ids;
    const waits = await holdfastHere(['tasks', 'retry', id], env);
    expect(waits).toMatchObject({ status: 1, stdout: '' });
    expect(waits.stderr).toContain('WrongState: ');
    for (const task of ids) await hf.tasks.cancel(task);
    expect(await holdfastJsonHere(['tasks', 'retry', id, 'nothing'], env)).toEqual({
      tasks: [expect.objectContaining({ id, state: 'waiting', entry: 2, finishedAt: null })],
      refused: [{ id: 'nothing', code: 'NotFound', message: expect.any(String) as string }],
    });
    const all = ['tasks', 'retry', '--state', 'canceled', '--name', 'retried'];
    expect(await holdfastJsonHere(all, env)).toEqual({ retried: 1, refused: 0 });
    expect(await holdfastHere(all, env)).toMatchObject({ status: 0, stdout: 'Retried 0 tasks.\n' });
    expect(await holdfastHere([...all, '--state', 'done'], env)).toMatchObject({ status: 2 });
  });

  it('shows one, or tells that there is none', async () => {
    const { id } = await hf.dispatch('later', null, { queue: 'nobody' });
    expect(await holdfastJsonHere(['tasks', 'show', id], env)).toMatchObject({ id, payload: null });
    expect((await holdfastHere(['tasks', 'show', id], env)).stdout).toMatch(/^name +later$/m);
    const missing = await holdfastHere(['tasks', 'show', 'nothing'], env);
    expect(missing).toMatchObject({ status: 1, stdout: '' });
    expect(missing.stderr).toContain('NotFound: There is no task "nothing".');
  });
});

describe('holdfast queues', () => {
  it('pauses, lists and resumes', async () => {
    expect(await holdfastHere(['queues', 'list'], env)).toMatchObject({ stdout: 'No queue is paused.\n' });
    expect(await holdfastJsonHere(['queues', 'pause', 'night'], env)).toEqual({
      queue: 'night',
      paused: true,
    });
    expect(await holdfastJsonHere(['queues', 'list'], env)).toEqual({
      queues: [{ queue: 'night', paused: true, pausedAt: isoTime }],
      next: null,
    });
    expect((await holdfastHere(['queues', 'list'], env)).stdout).toMatch(/^QUEUE +PAUSED\nnight +\d{4}-/);
    const resumed = await holdfastHere(['queues', 'resume', 'night'], env);
    expect(resumed).toMatchObject({ status: 0, stdout: 'night not paused\n' });
    expect(await holdfastJsonHere(['queues', 'list'], env)).toEqual({ queues: [], next: null });
    expect(await holdfastHere(['queues', 'pause', ''], env)).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('holdfast worker', () => {
  it('tells that it claims, shows in the lists, and stops in order when told to', async () => {
    const worker = await startWorker('--concurrency', '1', '--version', 'ffmpeg=6.1.0', '--queue', 'default');
    const ready = JSON.parse(worker.stdout) as { incarnation: string };
    expect(ready).toEqual({
      ready: true,
      name: 'cli-test',
      incarnation: expect.stringMatching(/^\d+$/) as string,
    });

    const until = join(folder, 'let-go');
    const held = { exclusive: ['held'] };
    const { id: first } = await hf.dispatch('test.hold', { until }, held);
    const { id: second } = await hf.dispatch('test.hold', { until }, held);
    await waitUntil(async () => {
      const { locks } = await hf.locks.list({ resource: 'held' });
      return (await hf.tasks.get(first)).state === 'running' && locks[0]?.waiting.length === 1;
    }, 'one task to run and the other to wait');
    const owner = { name: 'cli-test', incarnation: ready.incarnation };
    expect(await holdfastJsonHere(['locks', 'list'], env)).toEqual({
      locks: [
        {
          ...{ resource: 'held', mode: 'exclusive', waitingCount: 1 },
          holders: [
            {
              task: first,
              entry: 1,
              owner,
              fence: expect.stringMatching(/^\d{28}$/) as string,
              since: isoTime,
            },
          ],
          waiting: [{ task: second, mode: 'exclusive', position: 1 }],
        },
      ],
      next: null,
    });
    expect(await holdfastJsonHere(['locks', 'owners'], env)).toMatchObject({
      owners: [{ ...owner, online: true, holds: [{ task: first, entry: 1 }] }],
    });
    expect(await holdfastJsonHere(['workers', 'list'], env)).toMatchObject({
      workers: [
        {
          ...owner,
          ...{ kind: 'worker', pid: worker.child.pid, online: true, ttlMs: 15_000, concurrency: 1 },
          ...{ queues: ['default'], versions: { ffmpeg: '6.1.0' }, running: [first] },
        },
      ],
    });

    worker.child.kill('SIGTERM');
    await waitUntil(() => worker.stderr.includes('stops: '), 'the worker to say that it stops');
    await writeFile(until, '');
    expect((await worker.ended).status).toBe(0);
    expect(worker.stdout).toBe(`${JSON.stringify(ready)}\n`);
    expect(await hf.tasks.get(first)).toMatchObject({ state: 'completed', result: 'let go' });
    expect(await hf.tasks.get(second)).toMatchObject({ state: 'waiting' });
    expect(await hf.workers.list()).toEqual({ workers: [], next: null });
    expect(await hf.locks.owners()).toEqual({ owners: [], next: null });
  });

  it('runs handlers in children with --isolation child', async () => {
    await startWorker('--isolation', 'child');
    const args = ['dispatch', 'test.add', '--payload', '{"a":5,"b":2}', '--wait', '--tasks', taskFile];
    expect(await holdfastJsonHere(args, env)).toMatchObject({ state: 'completed', result: { sum: 7 } });
  });
});

describe('a reader that goes away', () => {
  it('is no error', async () => {
    const list = startHoldfast(['tasks', 'list', '--limit', '1000'], { env });
    list.child.stdout?.destroy();
    expect(await list.ended).toMatchObject({
      status: 0,
      stderr: expect.not.stringContaining('EPIPE') as string,
    });
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import type { TaskContext } from '../tasks/definition.js';
import {
  dropNamespace,
  sharedPostgresUrl,
  sharedRedisUrl,
  uniqueNamespace,
} from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { compiledFile } from '../entry-point.js';
import { InvalidTask, NotConfigured, WaitTimeout, WrongState, WrongTable } from '../errors.js';
import { createHoldfast } from '../holdfast.js';
import { defineTask } from '../tasks/definition.js';

/** What the handlers of a test wait for. */
class Gate {
  open: () => void = () => {};
  readonly opened: Promise<void> = new Promise((resolve) => (this.open = resolve));
}

let namespace: string;
let opened: Holdfast[];

beforeEach(() => {
  namespace = uniqueNamespace();
  opened = [];
});
afterEach(async () => {
  for (const hf of opened) await hf.close();
  await dropNamespace(namespace);
});

async function open(options: HoldfastOptions): Promise<Holdfast> {
  const servers = { database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace };
  const hf = await createHoldfast({ ...servers, migrate: true, ...options });
  opened.push(hf);
  return hf;
}

/** Runs a worker until the Holdfast is closed; resolves when it takes tasks. */
async function startWorker(hf: Holdfast): Promise<{ name: string; incarnation: string }> {
  const worker = hf.createWorker({ name: 'w', concurrency: 20, ttl: '5s' });
  const ready = new Promise<{ name: string; incarnation: string }>((resolve) => worker.on('ready', resolve));
  const running = worker.run();
  return Promise.race([ready, running.then(() => Promise.reject(new Error('The worker ended.')))]);
}

const places = [
  ['Redis', {}],
  ['memory:', { redis: 'memory:' }],
] as const;

describe.each(places)('a worker with its lock table in %s', { timeout: 90_000 }, (_, place) => {
  it('lets its handlers use the Holdfast that closes until they have returned', async () => {
    const [started, closing, over] = [new Gate(), new Gate(), new Gate()];
    let tooLate: Promise<unknown> = Promise.resolve();
    const child = defineTask({ name: 'child', queue: 'later', run: () => {} });
    const parent = defineTask({
      name: 'parent',
      run: async () => {
        started.open();
        await closing.opened;
        tooLate = over.opened.then(() => hf.dispatch(child, null));
        const { id } = await hf.dispatch(child, null);
        const lock = await hf.locks.acquire({ exclusive: ['r'] }, { wait: '10s' });
        await lock.release();
        return (await hf.tasks.cancel(id)).state;
      },
    });
    const hf = await open({ ...place, tasks: [parent, child] });
    await startWorker(hf);
    const { id } = await hf.dispatch(parent, null);
    await started.opened;
    const closed = hf.close();
    await expect(hf.tasks.get(id)).rejects.toMatchObject({ code: 'Unavailable' });
    closing.open();
    await closed;
    over.open();
    await expect(tooLate).rejects.toThrow('This Holdfast is closed.');
    const after = await open({ ...place });
    expect(await after.tasks.get(id)).toMatchObject({ state: 'completed', result: 'canceled' });
  });

  it('runs what is dispatched, and wait tells how it ended', async () => {
    const double = defineTask({
      name: 'double',
      payload: z.object({ n: z.string().transform(Number) }),
      resources: ({ n }) => ({ exclusive: [`n:${n}`] }),
      run: ({ n }, { attempt }) => ({ twice: 2 * n, attempt }),
    });
    const hf = await open({ ...place, tasks: [double] });
    const { id } = await hf.dispatch(double, { n: '21' });
    await startWorker(hf);
    expect(await hf.wait(id, { timeout: '60s' })).toMatchObject({
      state: 'completed',
      payload: { n: '21' },
      result: { twice: 42, attempt: 1 },
      exclusive: ['n:21'],
      attempt: 1,
      worker: { name: 'w' },
      error: null,
    });
  });

  it('cancels what waits and what runs, and those who wait for it learn of it', async () => {
    const started = new Gate();
    const stoppable = defineTask({
      name: 'stoppable',
      run: async (_, { signal }) => {
        started.open();
        await sleep(60_000, undefined, { signal });
      },
    });
    const hf = await open({ tasks: [stoppable], ...place });
    await startWorker(hf);
    const running = await hf.dispatch(stoppable, null, { exclusive: ['r'] });
    const waiting = await hf.dispatch(stoppable, null, { exclusive: ['r'] });
    await started.opened;
    const ends = Promise.all([running, waiting].map(({ id }) => hf.wait(id, { timeout: '20s' })));
    expect((await hf.tasks.cancel(waiting.id)).state).toBe('canceled');
    expect((await hf.tasks.cancel(running.id)).state).toMatch(/^cancel(ing|ed)$/);
    expect(await ends).toMatchObject([{ state: 'canceled' }, { state: 'canceled' }]);
    await expect(hf.tasks.cancel('nonsense')).rejects.toMatchObject({ code: 'NotFound' });
    await waitUntil(async () => (await hf.locks.list({ resource: 'r' })).locks.length === 0, 'r is free');
  });

  it('shows who holds, who waits and who works', async () => {
    const gate = new Gate();
    const hold = defineTask({ name: 'hold', run: () => gate.opened });
    const hf = await open({ ...place, tasks: [hold] });
    const first = await hf.dispatch(hold, null, { exclusive: ['r'], shared: ['s'] });
    const owner = await startWorker(hf);
    await waitUntil(async () => (await hf.tasks.get(first.id)).state === 'running', 'the first one runs');
    const second = await hf.dispatch(hold, null, { shared: ['r'] });
    const locks = await waitUntil(async () => {
      const { locks } = await hf.locks.list({ resource: 'r' });
      return locks[0]?.waitingCount === 1 ? locks : null;
    }, 'the second one waits');
    const { fence } = await hf.tasks.get(first.id);
    expect(locks).toMatchObject([
      {
        resource: 'r',
        mode: 'exclusive',
        holders: [{ task: first.id, entry: 1, owner, fence }],
        waiting: [{ task: second.id, mode: 'shared', position: 1 }],
      },
    ]);
    expect((await hf.locks.list()).locks.map(({ resource }) => resource)).toEqual(['r', 's']);
    expect(await hf.locks.owners()).toEqual({
      owners: [{ ...owner, online: true, holds: [{ task: first.id, entry: 1, fence }], more: false }],
      next: null,
    });
    const { workers } = await hf.workers.list();
    expect(workers).toMatchObject([
      { ...owner, kind: 'worker', online: true, ttlMs: 5_000, running: [first.id] },
    ]);
    gate.open();
    await Promise.all([first, second].map(({ id }) => hf.wait(id, { timeout: '60s' })));
  });
});

describe('a worker', { timeout: 90_000 }, () => {
  it('gives tasks that a handler dispatches their parent', async () => {
    const child = defineTask({ name: 'child', run: () => 'done' });
    const parent = defineTask({
      name: 'parent',
      run: async (_: unknown, context: TaskContext) => (await context.dispatch(child, null)).id,
    });
    const hf = await open({ tasks: [parent, child] });
    await startWorker(hf);
    const { id } = await hf.dispatch(parent, null);
    const { result } = await hf.wait(id, { timeout: '60s' });
    expect(await hf.wait(String(result), { timeout: '60s' })).toMatchObject({ parent: id, result: 'done' });
  });

  it('hears of what is dispatched in a transaction without the lock table, long before it polls', async () => {
    const hf = await open({ tasks: [defineTask({ name: 'x', run: () => 'y' })] });
    await startWorker(hf);
    const client = new pg.Client({ connectionString: sharedPostgresUrl() });
    await client.connect();
    const took: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      await client.query('BEGIN');
      const { id } = await hf.dispatch('x', n, { tx: client });
      await client.query('COMMIT');
      const committed = performance.now();
      await hf.wait(id, { timeout: '60s' });
      took.push(performance.now() - committed);
    }
    await client.end();
    // By the poll alone, each takes about 1,400 ms.
    expect(took.sort((a, b) => a - b)[4]).toBeLessThan(800);
  });

  it('finishes its tasks before close resolves', async () => {
    const gate = new Gate();
    let ended = false;
    const slow = defineTask({
      name: 'slow',
      run: async () => {
        gate.open();
        await sleep(300);
        ended = true;
      },
    });
    const hf = await open({ tasks: [slow] });
    await startWorker(hf);
    const { id } = await hf.dispatch(slow, null);
    await gate.opened;
    await hf.close();
    expect(ended).toBe(true);
    const again = await open({});
    expect(await again.tasks.get(id)).toMatchObject({ state: 'completed' });
    expect(await again.workers.list()).toEqual({ workers: [], next: null });
    expect(await again.locks.owners()).toEqual({ owners: [], next: null });
  });

  it('runs handlers in child processes where it is told to, from its task files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-tasks-'));
    const file = join(folder, 'tasks.mjs');
    const library = compiledFile(import.meta.url, '../index.js').href;
    await writeFile(
      file,
      `import { defineTask } from ${JSON.stringify(library)};
       export default defineTask({ name: 'pid', run: async (payload, context) => {
         const { id } = payload ? { id: null } : await context.dispatch('pid', { nested: true });
         return { pid: process.pid, nested: id };
       } });`,
    );
    const hf = await open({});
    const worker = hf.createWorker({ name: 'w', ttl: '5s', taskFiles: [file], isolation: 'child' });
    const running = worker.run();
    const { id } = await hf.dispatch('pid');
    const { result } = (await hf.wait(id, { timeout: '60s' })) as { result: { pid: number; nested: string } };
    expect(result.pid).not.toBe(process.pid);
    const nested = await hf.wait(result.nested, { timeout: '60s' });
    expect(nested).toMatchObject({ state: 'completed', parent: id, payload: { nested: true } });
    await worker.stop();
    await running;
    await rm(folder, { recursive: true });
  });

  it('runs once, and not at all when it was stopped before', async () => {
    const hf = await open({ tasks: [defineTask({ name: 'x', run: () => null })] });
    const worker = hf.createWorker();
    await worker.stop();
    await worker.run();
    await expect(worker.run()).rejects.toThrow(WrongState);
  });

  it('refuses options that it does not take, and what it cannot run', async () => {
    const hf = await open({});
    expect(() => hf.createWorker({ concurency: 3 } as object)).toThrow('Did you mean "concurrency"?');
    expect(() => hf.createWorker({ identity: {} } as object)).toThrow(InvalidTask);
    expect(() => hf.createWorker({ isolation: 'child' })).toThrow(NotConfigured);
    await expect(hf.createWorker().run()).rejects.toThrow('needs definitions');
    await expect(hf.createWorker({ taskFiles: ['/nowhere.js'] }).run()).rejects.toThrow('/nowhere.js');
  });
});

describe('wait', { timeout: 90_000 }, () => {
  it('times out with the state that it saw', async () => {
    const hf = await open({});
    const { id } = await hf.dispatch('nobody runs this');
    const waiting = hf.wait(id, { timeout: '200ms' });
    await expect(waiting).rejects.toThrow(WaitTimeout);
    await expect(waiting).rejects.toThrow('it was waiting');
    await expect(hf.wait(id, { timeout: 0 })).rejects.toThrow(WaitTimeout);
  });

  it('learns in a process that runs nothing how tasks ended', async () => {
    const hf = await open({ tasks: [defineTask({ name: 'x', run: () => 'y' })] });
    await startWorker(hf);
    const other = await open({});
    const tasks = await other.dispatchMany(Array.from({ length: 300 }, () => ({ task: 'x' })));
    const settled = await Promise.all(tasks.map(({ id }) => other.wait(id, { timeout: '60s' })));
    expect(new Set(settled.map(({ state }) => state))).toEqual(new Set(['completed']));
  });
});

describe('memory:', { timeout: 90_000 }, () => {
  it('is refused to a second process that uses the table, not to one that only dispatches', async () => {
    const hf = await open({ redis: 'memory:', tasks: [defineTask({ name: 'x', run: () => 'y' })] });
    await startWorker(hf);
    const other = await open({ redis: 'memory:' });
    await expect(other.locks.list({ resource: 'r' })).rejects.toThrow(WrongTable);
    const { id } = await other.dispatch('x');
    expect(await other.wait(id, { timeout: '60s' })).toMatchObject({ result: 'y' });
    await hf.close();
    expect(await other.locks.list({ resource: 'r' })).toEqual({ locks: [], next: null });
  });

  it('opens a new epoch at every start', async () => {
    const fences: string[] = [];
    const note = defineTask({ name: 'note', run: (_, { fence }) => void fences.push(fence) });
    for (let start = 0; start < 2; start += 1) {
      const hf = await open({ redis: 'memory:', tasks: [note] });
      await startWorker(hf);
      await hf.wait((await hf.dispatch(note, null, { exclusive: ['r'] })).id, { timeout: '60s' });
      await hf.close();
    }
    const epochs = fences.map((fence) => fence.slice(0, 12));
    expect(new Set(epochs).size).toBe(2);
    expect(fences).toEqual([...fences].sort());
  });
});

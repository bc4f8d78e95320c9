import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AdHocLock } from '../api/ad-hoc-lock.js';
import type { Holdfast } from '../holdfast.js';
import type { TaskContext, TaskDefinition } from '../tasks/definition.js';
import {
  dropNamespace,
  sharedPostgresUrl,
  sharedRedisUrl,
  uniqueNamespace,
} from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { createHoldfast } from '../holdfast.js';
import { defineTask } from '../tasks/definition.js';

interface Payload {
  exclusive?: string[];
  do: string;
}

type Handler = (context: TaskContext) => Promise<unknown>;

const soon = { wait: '20s' };

let namespace: string;
let hf: Holdfast;
let handlers: Record<string, Handler>;
let job: TaskDefinition<Payload>;

beforeEach(async () => {
  namespace = uniqueNamespace();
  handlers = {};
  job = defineTask({
    name: 'job',
    resources: ({ exclusive = [] }: Payload) => ({ exclusive }),
    run: async (payload: Payload, context) => handlers[payload.do]?.(context),
  }) as TaskDefinition<Payload>;
  const servers = { database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace };
  hf = await createHoldfast({ ...servers, migrate: true, tasks: [job] });
});
afterEach(async () => {
  await hf.close();
  await dropNamespace(namespace);
});

async function startWorker(concurrency = 10): Promise<void> {
  const worker = hf.createWorker({ name: 'w', concurrency, ttl: '5s' });
  const ready = new Promise((resolve) => worker.on('ready', resolve));
  await Promise.race([ready, worker.run()]);
}

/** Dispatches a task whose handler is `run`, holding `exclusive`. Resolves with what that ended with. */
async function runTask(name: string, exclusive: string[], run: Handler): Promise<unknown> {
  handlers[name] = run;
  const { id } = await hf.dispatch(job, { do: name, exclusive });
  const ended = await hf.wait(id, { timeout: '40s' });
  return ended.result ?? ended.error?.code;
}

/** Takes the lock and lets it go; resolves with `locked` or the code of the error. */
async function tryLock(exclusive: string[]): Promise<string> {
  try {
    await (await hf.locks.acquire({ exclusive }, soon)).release();
    return 'locked';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function tryWait(id: string): Promise<string> {
  return hf.wait(id, { timeout: '20s' }).then(
    () => 'waited',
    (error: { code: string }) => error.code,
  );
}

async function waitersOn(resource: string, count: number): Promise<void> {
  await waitUntil(async () => {
    const { locks } = await hf.locks.list({ resource });
    return (locks[0]?.waitingCount ?? 0) === count;
  }, `${count} wait for ${resource}`);
}

async function nothingWaits(): Promise<void> {
  await waitUntil(async () => {
    const rows = (await hf.tasks.list({ name: 'holdfast.lock' })).tasks;
    return rows.length + (await hf.locks.list()).locks.length === 0;
  }, 'nothing is held or waited for');
}

test.each(['as resources of their tasks', 'by hand'])(
  'of two handlers that each hold one thing, %s, and want the other, one is refused at least',
  async (how) => {
    await startWorker();
    const holding: Record<string, ReturnType<typeof latch>> = { r1: latch(), r2: latch() };
    const run = (mine: string, other: string): Promise<unknown> =>
      runTask(mine, how === 'by hand' ? [] : [mine], async () => {
        let lock: AdHocLock | null = null;
        if (how === 'by hand') lock = await hf.locks.acquire({ exclusive: [mine] }, soon);
        holding[mine]?.open();
        await holding[other]?.opened;
        const answer = await tryLock([other]);
        await lock?.release();
        return answer;
      });
    const answers = await Promise.all([run('r1', 'r2'), run('r2', 'r1')]);
    expect(answers).toContain('WouldDeadlock');
    expect(answers.filter((answer) => !['WouldDeadlock', 'locked'].includes(String(answer)))).toEqual([]);
    await nothingWaits();
  },
);

test('a handler that asks for what its own task holds is refused', async () => {
  await startWorker();
  expect(await runTask('self', ['r1'], () => tryLock(['r2', 'r1']))).toBe('WouldDeadlock');
  await nothingWaits();
});

test('a circle through a reservation is found', async () => {
  await startWorker();
  const answer = await runTask('holder', ['r1'], async () => {
    // It waits for r1 and has r2 reserved.
    handlers['both'] = async () => {};
    await hf.dispatch(job, { do: 'both', exclusive: ['r1', 'r2'] });
    await waitersOn('r1', 1);
    return tryLock(['r2']);
  });
  expect(answer).toBe('WouldDeadlock');
  await nothingWaits();
});

test('a circle through one who waits before is found', async () => {
  await startWorker();
  const held = await hf.locks.acquire({ exclusive: ['r2'] }, soon);
  const answer = await runTask('holder', ['r1'], async () => {
    handlers['both'] = async () => {};
    await hf.dispatch(job, { do: 'both', exclusive: ['r1', 'r2'] });
    await waitersOn('r2', 1);
    return tryLock(['r2']);
  });
  expect(answer).toBe('WouldDeadlock');
  await held.release();
  await nothingWaits();
});

test('a handler that waits for a child that needs what its parent holds is refused', async () => {
  await startWorker();
  handlers['child'] = async () => 'child';
  let child = '';
  const answer = await runTask('parent', ['r1'], async ({ dispatch }) => {
    child = (await dispatch(job, { do: 'child', exclusive: ['r1'] })).id;
    return tryWait(child);
  });
  expect(answer).toBe('WouldDeadlock');
  expect((await hf.wait(child, { timeout: '20s' })).result).toBe('child');
  await nothingWaits();
});

test('a child that asks for what its waiting parent holds is refused', async () => {
  await startWorker();
  handlers['child'] = () => tryLock(['r1']);
  const answer = await runTask('parent', ['r1'], async ({ dispatch }) => {
    const child = await dispatch(job, { do: 'child' });
    return (await hf.wait(child.id)).result;
  });
  expect(answer).toBe('WouldDeadlock');
  await nothingWaits();
});

test('a circle that closes after the wait began is found', async () => {
  await startWorker();
  const [holding, waiting] = [latch(), latch()];
  handlers['child'] = async () => {};
  const stranger = runTask('stranger', ['r3'], async () => {
    holding.open();
    await waiting.opened;
    return tryLock(['r1']);
  });
  await holding.opened;
  const parent = runTask('parent', ['r1'], async ({ dispatch }) => {
    const child = await dispatch(job, { do: 'child', exclusive: ['r3'] });
    await waitersOn('r3', 1);
    const wait = tryWait(child.id);
    waiting.open();
    return wait;
  });
  const answers = await Promise.all([stranger, parent]);
  expect(answers).toContain('WouldDeadlock');
  expect(answers.filter((one) => !['WouldDeadlock', 'locked', 'waited'].includes(String(one)))).toEqual([]);
  await nothingWaits();
});

test('who waits for a chain that ends elsewhere is not refused', async () => {
  await startWorker();
  const stranger = await hf.locks.acquire({ exclusive: ['r3'] }, soon);
  handlers['child'] = async () => {};
  const answer = await runTask('parent', ['r1'], async ({ dispatch }) => {
    const child = await dispatch(job, { do: 'child', exclusive: ['r2', 'r3'] });
    await waitersOn('r3', 1);
    // Behind it, and behind this handler, one more: it waits for both, and nobody for it.
    await dispatch(job, { do: 'child', exclusive: ['r2', 'r1'] });
    await waitersOn('r1', 1);
    setTimeout(() => void stranger.release(), 500);
    return tryWait(child.id);
  });
  expect(answer).toBe('waited');
  await nothingWaits();
});

test('a handler that waits for somebody else gets the lock, and readers do not wait for each other', async () => {
  await startWorker();
  const reader = await hf.locks.acquire({ shared: ['r2'] }, soon);
  const answer = await runTask('holder', ['r1'], async () => {
    const writer = tryLock(['r2']);
    await waitersOn('r2', 1);
    const readers = [1, 2].map(async () => {
      const lock = await hf.locks.acquire({ shared: ['r2'] }, soon);
      await lock.release();
      return 'read';
    });
    await waitersOn('r2', 3);
    // Long enough to be looked at several times.
    setTimeout(() => void reader.release(), 500);
    return [await writer, ...(await Promise.all(readers))];
  });
  expect(answer).toEqual(['locked', 'read', 'read']);
  await nothingWaits();
});

test('a handler that waits for a task lends its slot to it', async () => {
  await startWorker(1);
  handlers['child'] = async () => 'child';
  const answer = await runTask('parent', ['r1'], async ({ dispatch }) => {
    const results: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      const child = await dispatch(job, { do: 'child', exclusive: ['r2'] });
      results.push((await hf.wait(child.id, { timeout: '20s' })).result);
    }
    return results;
  });
  expect(answer).toEqual(['child', 'child']);
  await nothingWaits();
});

test('outside of handlers a wait is no part of a circle, and a handler that is over no longer waits', async () => {
  await startWorker();
  const done = latch();
  const holding = latch();
  const holder = runTask('holder', ['r1'], async () => {
    holding.open();
    await done.opened;
  });
  await holding.opened;
  const lock = tryLock(['r1']);
  await waitersOn('r1', 1);
  done.open();
  await holder;
  expect(await lock).toBe('locked');
  await nothingWaits();
});

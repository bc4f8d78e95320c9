import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { processLives } from '../../test/helpers/process-lives.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import type { PreparedTask } from '../tasks/dispatch/prepare-task.js';
import type { DispatchedTask } from '../tasks/dispatch/dispatch-signature.js';
import { dispatchedTasks } from '../tasks/dispatch/dispatched-task.js';
import type { ChildLogLine, ChildOutcome, ChildPool, ChildPoolOptions, ChildRun } from './child-pool.js';
import { createChildPool } from './child-pool.js';
import type { Beater, Heartbeat } from './heartbeat.js';
import { createHeartbeat } from './heartbeat.js';

const pools: ChildPool[] = [];
let heartbeat: Heartbeat;

beforeAll(async () => {
  const beater: Beater = { kind: 'caller', beat: () => Promise.resolve('beaten') };
  heartbeat = createHeartbeat({ ttlMs: 15_000, beater });
  await heartbeat.start('1');
});

afterAll(() => heartbeat.stop());

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
});

function fixture(name: string): string {
  return fileURLToPath(new URL(`child-fixtures/${name}`, import.meta.url));
}

function poolOf(options: Partial<ChildPoolOptions> = {}): ChildPool {
  const { watchdogAddress } = heartbeat;
  const pool = createChildPool({ taskFiles: [fixture('tasks.mjs')], watchdogAddress, ...options });
  pools.push(pool);
  return pool;
}

interface Heard {
  progress: unknown[];
  lines: ChildLogLine[];
  dispatched: PreparedTask[];
}

function run(pool: ChildPool, name: string, payload: unknown = null): ChildRun & Heard {
  const heard: Heard = { progress: [], lines: [], dispatched: [] };
  const task = { id: '018f', name } as never;
  const running = pool.run(
    { name, handler: 'run', payload, context: { task, attempt: 2, fence: '0042' } },
    {
      progress: (value) => void heard.progress.push(value),
      log: (line) => void heard.lines.push(line),
      dispatch: (prepared) => {
        heard.dispatched.push(prepared);
        const [task] = dispatchedTasks([prepared], []);
        return Promise.resolve(task as DispatchedTask);
      },
    },
  );
  return { ...running, ...heard };
}

async function pidOf(pool: ChildPool): Promise<number> {
  const outcome = await run(pool, 'pid').outcome;
  if (outcome.status === 'completed') return outcome.result as number;
  throw new Error(`No pid: ${JSON.stringify(outcome)}`);
}

const failed = (error: object): ChildOutcome => ({
  status: 'failed',
  error: expect.objectContaining(error) as never,
});

describe('a job in a child process', () => {
  let pool: ChildPool;

  beforeAll(() => {
    pool = createChildPool({ taskFiles: [fixture('tasks.mjs')], watchdogAddress: heartbeat.watchdogAddress });
  });

  afterAll(() => pool.stop());

  test('has its payload parsed, and its result comes back', async () => {
    expect(await run(pool, 'echo', { deep: ['ü'] }).outcome).toEqual({
      status: 'completed',
      result: { deep: ['ü'] },
    });
    expect(await run(pool, 'half', 8).outcome).toEqual({ status: 'completed', result: 4 });
    expect(await run(pool, 'half', 7).outcome).toEqual(
      failed({ code: 'InvalidTask', unretryable: true, message: expect.stringContaining('must be even') }),
    );
    expect(await run(pool, 'unheard-of').outcome).toEqual(failed({ code: 'UnknownTask' }));
  });

  test('is given its context', async () => {
    const result = { id: '018f', attempt: 2, fence: '0042', aborted: false };
    expect(await run(pool, 'context').outcome).toEqual({ status: 'completed', result });
  });

  test('sends progress and log lines, in order, and none after its end', async () => {
    const report = run(pool, 'report');
    expect(await report.outcome).toEqual({ status: 'completed', result: null });
    expect(report.progress).toEqual([{ done: 1 }, { done: 2 }]);
    expect(report.lines).toMatchObject([
      { level: 'warn', message: 'careful', fields: { error: { message: 'inside' }, big: '1' } },
    ]);
    const late = run(pool, 'late-progress');
    await late.outcome;
    const next = run(pool, 'until-aborted');
    await waitUntil(() => next.progress.length > 0, 'the next job runs');
    await new Promise((resolve) => setTimeout(resolve, 100));
    next.abort('enough');
    await next.outcome;
    expect([late.progress, next.progress]).toEqual([[], ['waiting']]);
  });

  test('has what it dispatches prepared in the child and inserted by the parent', async () => {
    const dispatch = run(pool, 'dispatch');
    const outcome = await dispatch.outcome;
    const [prepared] = dispatch.dispatched;
    expect(prepared?.task).toMatchObject({ name: 'echo', parent: '018f', exclusive: ['a', 'b'] });
    expect(outcome).toEqual({ status: 'completed', result: [prepared?.task.id, '018f'] });
    expect(await run(pool, 'dispatch-badly').outcome).toEqual(failed({ code: 'InvalidTask' }));
  });

  test('fails with whatever its handler threw, as plain data', async () => {
    expect(await run(pool, 'throw').outcome).toEqual(
      failed({ name: 'TypeError', message: 'broken', code: 'EBROKEN', stack: expect.any(String) }),
    );
    expect(await run(pool, 'throw-for-good').outcome).toEqual(
      failed({ message: 'never', unretryable: true }),
    );
    expect(await run(pool, 'throw-oddly').outcome).toEqual(failed({ name: 'Error' }));
  });

  test('fails where its result cannot be stored, and leaves its child usable', async () => {
    const pid = await pidOf(pool);
    expect(await run(pool, 'bigint').outcome).toEqual(failed({ code: 'InvalidTask', unretryable: true }));
    expect(await run(pool, 'huge').outcome).toEqual(failed({ code: 'PayloadTooLarge', unretryable: true }));
    expect(await run(pool, 'bad-progress').outcome).toEqual(failed({ code: 'InvalidTask' }));
    expect(await pidOf(pool)).toBe(pid);
  });

  test('hears its signal abort, and leaves its child usable', async () => {
    const pid = await pidOf(pool);
    const waiting = run(pool, 'until-aborted');
    await waitUntil(() => waiting.progress.length > 0, 'the handler waits');
    waiting.abort('out of time');
    expect(await waiting.outcome).toEqual({ status: 'completed', result: 'AbortError: out of time' });
    expect(await pidOf(pool)).toBe(pid);
  });

  test('does not start when it was aborted before', async () => {
    // A new child still loads the task files when it hears of both.
    const early = run(poolOf(), 'until-aborted');
    early.abort('too early');
    expect(await early.outcome).toMatchObject({ status: 'not-started', error: { message: 'too early' } });
  });

  test('cannot be hit by a late kill of the job before it', async () => {
    const first = run(pool, 'pid');
    await first.outcome;
    const second = run(pool, 'until-aborted');
    await waitUntil(() => second.progress.length > 0, 'the second job runs');
    first.abort('late');
    first.kill();
    second.abort('in time');
    expect(await second.outcome).toMatchObject({ status: 'completed', result: 'AbortError: in time' });
  });
});

describe('a child process', () => {
  test('is used again, and jobs at the same time have one each', async () => {
    const pool = poolOf();
    const pid = await pidOf(pool);
    expect(await pidOf(pool)).toBe(pid);
    const waiting = run(pool, 'until-aborted');
    const other = await pidOf(pool);
    expect(other).not.toBe(pid);
    waiting.abort('enough');
    await waiting.outcome;
  });

  test('ends after it was idle for long enough', async () => {
    const pool = poolOf({ idleLimitMs: 100 });
    const pid = await pidOf(pool);
    await waitUntil(() => !processLives(pid), 'the idle child is gone');
    expect(await pidOf(pool)).not.toBe(pid);
  });

  test('tells at once how it died, and is replaced', async () => {
    const pool = poolOf();
    expect(await run(pool, 'exit').outcome).toEqual({
      status: 'died',
      exitCode: 7,
      signal: null,
      sentByUs: false,
    });
    expect(await run(pool, 'kill-self').outcome).toEqual({
      status: 'died',
      exitCode: null,
      signal: 'SIGKILL',
      sentByUs: false,
    });
    expect(await run(pool, 'echo', 1).outcome).toEqual({ status: 'completed', result: 1 });
  });

  test.each([
    'junk',
    'null',
    '{}',
    '{"type":"progress","value":1}',
    '{"type":"progress","job":1}',
    '{"type":"log","job":1}',
    '{"type":"log","job":1,"line":{"level":"constructor","fields":{},"message":"m"}}',
    '{"type":"dispatch","job":1,"id":1}',
    '{"type":"settled","job":1}',
    '{"type":"settled","job":1,"outcome":{"status":"failed"}}',
  ])('is killed when it sends something else than messages: %s', async (text) => {
    expect(await run(poolOf(), 'junk', text).outcome).toMatchObject({ status: 'died', signal: 'SIGKILL' });
  });

  test('is killed when it sends a message that is refused', async () => {
    const refusing = poolOf().run(
      {
        name: 'report',
        handler: 'run',
        payload: null,
        context: { task: {} as never, attempt: 1, fence: '' },
      },
      {
        progress: () => {
          throw new Error('too large');
        },
        log: () => {},
        dispatch: () => Promise.reject(new Error('not here')),
      },
    );
    expect(await refusing.outcome).toMatchObject({ status: 'died', signal: 'SIGKILL' });
  });

  test('is killed when it closes its pipe', async () => {
    expect(await run(poolOf(), 'close-pipe').outcome).toMatchObject({ status: 'died', signal: 'SIGKILL' });
  });

  test('that cannot be had starts no job', async () => {
    const { execPath } = process;
    process.execPath = '/nowhere/node';
    try {
      expect(await run(poolOf(), 'echo').outcome).toMatchObject({
        status: 'not-started',
        error: { message: expect.stringContaining('ENOENT') },
      });
    } finally {
      process.execPath = execPath;
    }
  });

  test('that dies while it is idle costs no job', async () => {
    const pool = poolOf();
    const pid = await pidOf(pool);
    process.kill(pid, 'SIGKILL');
    // Whether the pool has noticed or not.
    expect((await run(pool, 'pid').outcome).status).toMatch(/^(not-started|completed)$/);
    expect(await pidOf(pool)).not.toBe(pid);
  });

  test('whose task files fail to load tells why, and is not kept', async () => {
    const pool = poolOf({ taskFiles: [fixture('throws-at-import.mjs')] });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect(await run(pool, 'echo').outcome).toEqual(
        failed({ message: expect.stringContaining('broken at import') }),
      );
    }
    const exiting = poolOf({ taskFiles: [fixture('exits-at-import.mjs')] });
    expect(await run(exiting, 'echo').outcome).toMatchObject({
      status: 'died',
      exitCode: 3,
      sentByUs: false,
    });
  });

  test('that does not load its task files in time is killed', async () => {
    const pool = poolOf({ loadLimitMs: 1_500, taskFiles: [fixture('hangs-at-import.mjs')] });
    expect(await run(pool, 'echo').outcome).toMatchObject({
      // On a busy machine it may not even have come to them.
      status: expect.stringMatching(/^(failed|not-started)$/),
      error: { code: 'Unavailable' },
    });
  });
});

describe('the group of a child', () => {
  async function leaveBehind(name: string): Promise<{ running: ChildRun & Heard; pid: number }> {
    const running = run(poolOf(), name);
    await waitUntil(() => running.progress.length > 0, 'the handler has a process of its own');
    return { running, pid: running.progress[0] as number };
  }

  test('is killed with it', async () => {
    const { running, pid } = await leaveBehind('start-process-and-wait');
    running.kill();
    expect(await running.outcome).toMatchObject({ status: 'died', signal: 'SIGKILL', sentByUs: true });
    expect(processLives(pid)).toBe(false);
  });

  test('is killed when the child ends by itself', async () => {
    const { running, pid } = await leaveBehind('start-process-and-exit');
    expect(await running.outcome).toMatchObject({ status: 'died', exitCode: 0 });
    expect(processLives(pid)).toBe(false);
  });
});

describe('a stopped pool', () => {
  test('has ended its idle children and killed the deaf ones, within its limits', async () => {
    const pool = poolOf({ stopGraceMs: 300 });
    const deaf = run(pool, 'deaf');
    const idle = await pidOf(pool);
    await waitUntil(() => deaf.progress.length > 0, 'the deaf handler runs');
    const asked = performance.now();
    await Promise.all([pool.stop(), pool.stop()]);
    expect(performance.now() - asked).toBeLessThan(2_000);
    expect(processLives(idle)).toBe(false);
    expect(await deaf.outcome).toEqual({ status: 'died', exitCode: null, signal: 'SIGKILL', sentByUs: true });
    expect(await run(pool, 'echo').outcome).toMatchObject({ status: 'not-started' });
  });
});

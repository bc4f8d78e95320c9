import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Ended } from './run-holdfast.js';
import { holdfast, taskFile } from './run-holdfast.js';

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

function expectFailure({ status, stdout, stderr }: Ended, expected: number, text: string | RegExp): void {
  expect({ status, stdout }).toEqual({ status: expected, stdout: '' });
  expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(/\n {4}at /);
}

describe('wrong usage', () => {
  it.each([
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['dispach', 'x'], /Did you mean dispatch\?/],
    [['tasks'], /Usage: holdfast tasks/],
    [['demo', '--crash'], /unknown option '--crash'/],
    [['dispatch'], /^InvalidTask: Give the name of the task, or --batch FILE/],
    [['dispatch', 'x', '--payload', '{'], /'--payload <json>' argument '{' is invalid\. It must be JSON/],
    [['dispatch', 'x', '--priority', '1.5'], /--priority must be an integer, -32768 … 32767/],
    [['dispatch', 'x', '--batch', 'f'], /With --batch each line says what it is; a name cannot/],
    [['dispatch', '--batch', 'f', '--priority', '1'], /priority cannot be given beside it/],
    [['dispatch', '--batch', '/nonexistent'], /^InvalidTask: The batch cannot be read: ENOENT/],
    [
      ['dispatch', 'x', '--tasks', '/nonexistent.js'],
      /^InvalidTask: The task file \/nonexistent\.js cannot be read/,
    ],
    [['worker'], /required option '--tasks <file\.\.\.>' not specified/],
    [['worker', '--tasks', taskFile, '--concurrency', '0'], /--concurrency must be an integer, 1 … 10000/],
    [['worker', '--tasks', taskFile, '--isolation', 'else'], /Allowed choices are inline, child/],
    [
      ['worker', '--tasks', taskFile, '--version', 'ffmpeg'],
      /^InvalidTask: --version must be LIBRARY=VERSION/,
    ],
    [['tasks', 'list', '--limit', '0'], /--limit must be an integer, 1 … 1000/],
    [['tasks', 'show'], /missing required argument 'id'/],
  ])('%j exits 2 and says why', async (args, text) => {
    const urls = ['--database-url', 'postgres://127.0.0.1:1/x', '--redis-url', 'redis://127.0.0.1:1'];
    expectFailure(await holdfast([...args, ...(args[0] === 'demo' ? [] : urls)]), 2, text);
  });

  it.each([
    ['tasks list'],
    ['tasks show x'],
    ['locks list'],
    ['locks owners'],
    ['workers list'],
    ['migrate'],
    ['dispatch x'],
    [`worker --tasks ${taskFile}`],
  ])('without a place "%s" exits 2 and names what is missing', async (line) => {
    const ended = await holdfast(line.split(' '));
    expectFailure(ended, 2, /^NotConfigured: Not set: HOLDFAST_DATABASE_URL/);
    expect(ended.stderr).toContain('--embedded');
  });

  it('a URL alone is not enough for the demo', async () => {
    const ended = await holdfast(['demo', '--once', '--database-url', 'postgres://127.0.0.1:1/x']);
    expectFailure(ended, 2, /^NotConfigured: .*the Redis URL is missing/);
  });

  it('a bad namespace exits 2', async () => {
    const ended = await holdfast(['tasks', 'list', '--namespace', 'No', '--embedded']);
    expectFailure(ended, 2, /^NotConfigured: The namespace must match/);
  });
});

describe('help', () => {
  it('goes to stdout when it was asked for, with the exit statuses', async () => {
    const { status, stdout, stderr } = await holdfast(['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('3  a service cannot be reached');
    expect((await holdfast(['dispatch', '--help'])).stdout).toContain('Global options:');
    expect((await holdfast(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a service that cannot be reached', () => {
  it.each([
    ['tasks list'],
    ['tasks show 0190a5c1-0000-7000-8000-000000000000'],
    ['locks list'],
    ['workers list'],
    ['migrate'],
    ['dispatch x'],
    [`worker --tasks ${taskFile}`],
    ['demo --once'],
  ])('makes "%s" exit 3', async (line) => {
    const port = await closedPort();
    const env = {
      HOLDFAST_DATABASE_URL: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
      HOLDFAST_REDIS_URL: `redis://127.0.0.1:${port}`,
    };
    const ended = await holdfast([...line.split(' '), '--json'], { env });
    expectFailure(ended, 3, /Unavailable: /);
    expect(ended.stderr).not.toContain('secret');
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgram } from './program.js';
import { runProgram } from './run-program.js';

let stdout: string;
let stderr: string;

beforeEach(() => {
  stdout = '';
  stderr = '';
  capture(process.stdout, (text) => (stdout += text));
  capture(process.stderr, (text) => (stderr += text));
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'NAMESPACE', 'DATA_DIR']) {
    vi.stubEnv(`HOLDFAST_${name}`, undefined);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function capture(stream: NodeJS.WriteStream, take: (text: string) => void): void {
  const write = (text: string, done?: () => void): boolean => {
    take(text);
    done?.();
    return true;
  };
  vi.spyOn(stream, 'write').mockImplementation(write as typeof stream.write);
}

async function run(...args: string[]): Promise<number> {
  return await runProgram(createProgram(), ['node', 'holdfast', ...args]);
}

const urls = ['--database-url', 'postgres://127.0.0.1:1/x', '--redis-url', 'redis://127.0.0.1:1'];

describe('wrong usage', () => {
  it.each([
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['dispach', 'x'], /Did you mean dispatch\?/],
    [['tasks'], /Usage: holdfast tasks/],
    [[], /Usage: holdfast \[options\] \[command\]/],
    [['demo', '--crush'], /unknown option '--crush'/],
    [['dispatch'], /^InvalidTask: Give the name of the task, or --batch FILE/],
    [['dispatch', 'x', 'y'], /too many arguments/],
    [['dispatch', 'x', '--payload', '{'], /'--payload <json>' argument '{' is invalid\. It must be JSON/],
    [['dispatch', 'x', '--priority', '1.5'], /--priority must be an integer, -32768 … 32767/],
    [['dispatch', 'x', '--unique-key', ''], /^InvalidTask: Task "x": uniqueKey must not be empty/],
    [['dispatch', 'x', '--unique-mode', 'drop'], /Allowed choices are keep, replace/],
    [['dispatch', 'x', '--unique-mode', 'replace'], /^InvalidTask: Task "x": uniqueMode says what/],
    [['dispatch', 'x', '--run-at', 'soon'], /^InvalidTask: Task "x": runAt must be/],
    [['dispatch', 'x', '--exclusive', ''], /^InvalidTask: a resource in "exclusive" must not be empty/i],
    [['dispatch', 'x', '--batch', 'f'], /With --batch each line says what it is; a name cannot/],
    [['dispatch', '--batch', 'f', '--priority', '1'], /priority cannot be given beside it/],
    [['dispatch', '--batch', '/nonexistent'], /^InvalidTask: The batch cannot be read: ENOENT/],
    [
      ['dispatch', 'x', '--tasks', '/nonexistent.js'],
      /^InvalidTask: The task file \/nonexistent\.js cannot be/,
    ],
    [['tasks', 'retry'], /^InvalidTask: Give the ids of tasks, or --state/],
    [['tasks', 'retry', 'x', '--state', 'failed'], /^InvalidTask: Both ids and --state were given/],
    [['tasks', 'retry', 'x', '--name', 'y'], /^InvalidTask: --name and --limit go with --state/],
    [['worker'], /required option '--tasks <file\.\.\.>' not specified/],
    [['worker', '--tasks', 'f', '--concurrency', '0'], /--concurrency must be an integer, 1 … 10000/],
    [['worker', '--tasks', 'f', '--isolation', 'else'], /Allowed choices are inline, child/],
    [['worker', '--tasks', 'f', '--version', 'ffmpeg'], /^InvalidTask: --version must be LIBRARY=VERSION/],
    [['tasks', 'list', '--limit', '0'], /--limit must be an integer, 1 … 1000/],
    [['tasks', 'show'], /missing required argument 'id'/],
    [['locks', 'list', '--namespace', 'No'], /^NotConfigured: The namespace must match/],
  ])('%j exits 2 and says why', async (args, text) => {
    const others = args.length > 1 && args[0] !== 'demo' ? urls : [];
    expect(await run(...args, ...others)).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(text);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it.each([
    [['tasks', 'list']],
    [['tasks', 'show', 'x']],
    [['locks', 'list']],
    [['locks', 'owners']],
    [['workers', 'list']],
    [['migrate']],
    [['dispatch', 'x']],
    [['worker', '--tasks', 'f']],
  ])('without a place %j exits 2 and names what is missing', async (args) => {
    expect(await run(...args)).toBe(2);
    expect({ stdout, stderr }).toEqual({
      stdout: '',
      stderr: expect.stringMatching(
        /^NotConfigured: Not set: HOLDFAST_DATABASE_URL .*--embedded\)\.\n$/,
      ) as string,
    });
  });

  it('a URL alone is not enough for the demo', async () => {
    expect(await run('demo', '--database-url', 'postgres://127.0.0.1:1/x')).toBe(2);
    expect(stderr).toMatch(/^NotConfigured: .*the Redis URL is missing/);
  });

  it('shows the stack with --verbose alone', async () => {
    await run('dispatch', '--verbose');
    expect(stderr).toMatch(/\n {4}at /);
  });
});

describe('help', () => {
  it('goes to stdout when it was asked for', async () => {
    expect(await run('--help')).toBe(0);
    expect(stdout).toContain('3  a service cannot be reached');
    expect(await run('tasks', 'list', '--help')).toBe(0);
    expect(stdout).toContain('Global options:');
    expect(stderr).toBe('');
  });

  it('tells the version, which is no option of a worker', async () => {
    expect(await run('--version')).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('global options', () => {
  it('are taken before and after the command', async () => {
    for (const args of [
      ['--namespace', 'No', 'tasks', 'list'],
      ['tasks', '--namespace', 'No', 'list'],
      ['tasks', 'list', '--namespace', 'No'],
    ]) {
      stderr = '';
      expect(await run(...args)).toBe(2);
      expect(stderr).toContain('got "No"');
    }
  });
});

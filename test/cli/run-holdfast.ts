import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built command line. */
export const bin: string = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The file with the tasks that these tests run. */
export const taskFile: string = fileURLToPath(new URL('fixtures/tasks.mjs', import.meta.url));

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Besides that of the tests, without its HOLDFAST variables. */
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
  /** The command line of another build. */
  main?: string;
}

export interface Started {
  child: ChildProcess;
  /** What it has written so far. */
  readonly stdout: string;
  readonly stderr: string;
  ended: Promise<Ended>;
}

const running = new Set<ChildProcess>();

/** What a failed test has left. */
export function killStarted(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts the built command line. */
export function startHoldfast(
  args: string[],
  { env = {}, stdin, cwd, main = bin }: RunOptions = {},
): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'));
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? '');
  const ended = once(child, 'close').then(([status]): Ended => ({
    status: status as number | null,
    stdout,
    stderr,
  }));
  return {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
  };
}

/** Runs it to its end. */
export async function holdfast(args: string[], options: RunOptions = {}): Promise<Ended> {
  return await startHoldfast(args, options).ended;
}

/** Runs it with --json and returns the one document that it must print. */
export async function holdfastJson(args: string[], options: RunOptions = {}): Promise<unknown> {
  return documentOf(args, await holdfast([...args, '--json'], options));
}

/** The document that a command with --json has printed. */
export function documentOf(args: string[], { status, stdout, stderr }: Ended): unknown {
  if (status === null || status > 1 || !stdout.endsWith('\n') || stdout.trim().includes('\n')) {
    throw new Error(`holdfast ${args.join(' ')}: status ${String(status)}\n${stdout}\n${stderr}`);
  }
  return JSON.parse(stdout) as unknown;
}

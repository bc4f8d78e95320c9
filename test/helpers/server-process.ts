import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** One server that a test started: a process of its own with a temporary folder of its own. */
export interface ServerProcess {
  pid: number;
  /** Sends a signal to the server's own pid. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone. */
  exited: Promise<void>;
  /** Ends it in order, by force after 10 seconds, and removes its folder. Idempotent. */
  stop(): Promise<void>;
}

export interface ServerLaunch {
  program: string;
  args: string[];
  dir: string;
  /** Another user to run as: some servers refuse to be root. */
  user?: { uid: number; gid: number } | undefined;
  stopSignal: NodeJS.Signals;
  /** Besides that of the tests. */
  env?: Record<string, string> | undefined;
  /** Resolves to true once it answers. Asked again and again while the process lives. */
  ready: () => Promise<boolean>;
}

const startLimitMs = 30_000;

/** Starts a server and resolves once it answers. Throws with the end of its log where it does not. */
export async function startServerProcess(launch: ServerLaunch): Promise<ServerProcess> {
  const logPath = join(launch.dir, 'server.log');
  const log = openSync(logPath, 'a');
  const { uid, gid } = launch.user ?? {};
  const as = uid === undefined ? {} : { uid, ...(gid === undefined ? {} : { gid }) };
  const child = spawn(launch.program, launch.args, {
    cwd: launch.dir,
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...process.env, ...launch.env },
    ...as,
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const server = serverOf(child, exited, launch);
  if (await answers(child, launch)) return server;
  const text = readFileSync(logPath, 'utf8').slice(-2_000);
  await server.stop();
  throw new Error(`${launch.program} did not start. The end of its log:\n${text}`);
}

function serverOf(child: ChildProcess, exited: Promise<void>, launch: ServerLaunch): ServerProcess {
  const lifeline = tieToThisProcess(child.pid ?? 0, launch.dir, launch.stopSignal);
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    // A stopped process takes no other signal.
    child.kill('SIGCONT');
    child.kill(launch.stopSignal);
    const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
    if (child.pid !== undefined) await exited;
    clearTimeout(force);
    lifeline.kill('SIGKILL');
    removeFolder(launch.dir);
  };
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    exited,
    stop: () => (stopping ??= stop()),
  };
}

/**
 * A small shell that outlives this process by a moment: when its pipe closes, because this process ended in
 * whatever way, it ends the server and removes its folder.
 */
function tieToThisProcess(pid: number, dir: string, stopSignal: NodeJS.Signals): ChildProcess {
  const script = `read -r _
kill -CONT "$1"; kill -"$3" "$1"
i=0; while kill -0 "$1" && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done
kill -KILL "$1"; rm -rf "$2"`;
  const args = ['-c', script, 'sh', String(pid), dir, stopSignal.replace('SIG', '')];
  const lifeline = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  lifeline.unref();
  (lifeline.stdin as unknown as { unref(): void }).unref();
  return lifeline;
}

async function answers(child: ChildProcess, launch: ServerLaunch): Promise<boolean> {
  const limit = performance.now() + startLimitMs;
  while (child.exitCode === null && child.signalCode === null && performance.now() < limit) {
    if (await launch.ready().catch(() => false)) return true;
    await delay(20);
  }
  return false;
}

export function temporaryFolder(prefix: string): string {
  return mkdtempSync(join(tmpdir(), `holdfast-${prefix}-`));
}

export function removeFolder(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** A port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Tries again with another port: between finding a free one and listening on it somebody may take it. */
export async function withFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

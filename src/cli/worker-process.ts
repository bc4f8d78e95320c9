import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { GlobalOptions } from './global-options.js';
import { spawnWorker } from './spawn-worker.js';
import { writeNote } from './write-output.js';

const keptLogLines = 10;
const stopLimitMs = 20_000;

/** A `holdfast worker` that has started to claim, as a child of this process. It ends when this one does. */
export interface WorkerProcess {
  /** Rejects when the process ends without having been told to. */
  failed: Promise<never>;
  /** Lets it finish its tasks; kills it where that takes more than 20 s. */
  stop(): Promise<void>;
  /** Stops it where it is, as a debugger does, until it is woken or killed. */
  freeze(): void;
  wake(): void;
  /** Resolves when it is gone. What it ran is gone soon after, and what it held is for others to clean up. */
  kill(): Promise<void>;
}

/** Starts the process and waits until it claims. */
export async function startWorkerProcess(args: string[], global: GlobalOptions): Promise<WorkerProcess> {
  const child = spawnWorker(args, global, 'pipe');
  let stopping = false;
  const exited = exitOf(child);
  const gone = once(child, 'exit');
  const failed = exited.then((text) => (stopping ? new Promise<never>(() => {}) : fail(text)));
  failed.catch(() => {});
  await Promise.race([readyLine(child), failed]);
  return {
    failed,
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
      await exited;
      clearTimeout(timer);
    },
    freeze: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    kill: async () => {
      stopping = true;
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function readyLine(child: ChildProcess): Promise<void> {
  if (child.stdout !== null) await once(child.stdout, 'data');
}

/** Resolves with how the process ended and the last lines of its log. Warnings are shown when they come. */
async function exitOf(child: ChildProcess): Promise<string> {
  const log: string[] = [];
  if (child.stderr !== null) {
    createInterface(child.stderr).on('line', (line) => {
      if (isWarning(line)) void writeNote(`${line}\n`);
      log.push(line);
      if (log.length > keptLogLines) log.shift();
    });
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return [`A worker process ended with ${signal ?? `status ${String(code)}`}. Its log ended:`, ...log].join(
    '\n',
  );
}

function isWarning(line: string): boolean {
  const [, level] = /^\{"level":(\d+)/.exec(line) ?? [];
  return Number(level) >= 40;
}

function fail(text: string): never {
  throw new Error(text);
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const tasks = fileURLToPath(new URL('journal-tasks.mjs', import.meta.url));

export interface WorkerProcess {
  process: ChildProcess;
  incarnation: string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts a real `holdfast worker` and resolves once it claims. */
export async function startWorkerProcess(
  env: Record<string, string>,
  options: string[] = [],
  { taskFile = tasks, log = 'inherit' }: { taskFile?: string; log?: 'inherit' | 'ignore' } = {},
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [main, 'worker', '--tasks', taskFile, ...options], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', log],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const tooEarly = exited.then(([status]) => {
    throw new Error(`The worker ended with ${status} before it took tasks.`);
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), tooEarly])) as [string];
  return {
    process: child,
    incarnation: (JSON.parse(line) as { incarnation: string }).incarnation,
    stop: async () => {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}

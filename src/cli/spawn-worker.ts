import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledFile } from '../entry-point.js';
import type { GlobalOptions } from './global-options.js';

const bin: string = fileURLToPath(compiledFile(import.meta.url, './main.js'));

/**
 * Starts a `holdfast worker` that stops in order when this process ends. URLs go by the environment: arguments can be
 * read by everybody on the machine. Its log goes to this process, or where that of this process goes.
 */
export function spawnWorker(args: string[], global: GlobalOptions, log: 'pipe' | 'inherit'): ChildProcess {
  const verbose = global.verbose === true ? ['--verbose'] : [];
  // A group of its own: Ctrl-C reaches this process, which then stops the child when its tasks have ended. The
  // channel tells the child when its parent is gone.
  return spawn(process.execPath, [bin, 'worker', ...args, ...verbose], {
    env: { ...process.env, ...environmentOf(global) },
    stdio: ['ignore', 'pipe', log, 'ipc'],
    detached: true,
  });
}

function environmentOf({ databaseUrl, redisUrl, namespace }: GlobalOptions): Record<string, string> {
  return {
    ...(databaseUrl !== undefined && { HOLDFAST_DATABASE_URL: databaseUrl }),
    ...(redisUrl !== undefined && { HOLDFAST_REDIS_URL: redisUrl }),
    ...(namespace !== undefined && { HOLDFAST_NAMESPACE: namespace }),
  };
}

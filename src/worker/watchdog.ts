import { Worker } from 'node:worker_threads';
import { compiledFile } from '../entry-point.js';
import { signalGroup } from './process-group.js';

/**
 * Starts the watchdog of this child process, in a thread of its own. Resolves when it is connected to the
 * parent's heartbeat and has a deadline: no task code may be loaded before. Where it cannot connect, or is lost
 * later, this process is killed with its group.
 */
export async function armWatchdog(address: string): Promise<void> {
  // Nothing of the user's (preloaded modules, environment) belongs into this thread.
  const thread = new Worker(compiledFile(import.meta.url, './watchdog-thread.js'), {
    workerData: { address },
    execArgv: [],
    env: {},
  });
  thread.on('exit', () => signalGroup(process.pid, 'SIGKILL'));
  // 'exit' follows.
  thread.on('error', () => {});
  await new Promise((resolve) => thread.once('message', resolve));
}

import { Command } from 'commander';
import { InvalidTask } from '../errors.js';
import { endsWithin } from '../worker/ends-within.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { runWorker } from './run-worker.js';
import { openHoldfast } from './with-holdfast.js';
import { addWorkerFlags, type WorkerFlags } from './worker-flags.js';

const about = `
Prints {"ready":true,"name":…,"incarnation":…} on stdout when it claims. SIGTERM and SIGINT stop it in order: it
claims no more, lets its tasks finish within the grace, gives the others back, and exits 0. A second signal ends it at
once: what it ran stays running, with its resources, as after a crash. So it does where a handler in its own process has
not heeded its signal 3 s after the grace; it exits 1 then. It exits 3 where a store was away, so that something of it is
left to be swept, 5 s after the grace at the latest. It exits 1 too when it was fenced: when it could no longer
prove that it is alive, and has stopped its tasks.
`;

/** For closing, in milliseconds: a store that does not answer must not put off the end of the process. */
const closeLimitMs = 200;

export function workerCommand(): Command {
  const command = addWorkerFlags(new Command('worker').description('run tasks')).addHelpText('after', about);
  return onInvocation<WorkerFlags>(command, async ({ flags, global }) => {
    const { queue, version, tasks, ...options } = flags;
    const versions = versionsOf(version ?? []);
    const { hf, log } = await openHoldfast(global, { log: 'info' });
    try {
      const worker = hf.createWorker({
        ...options,
        ...(queue !== undefined && { queues: queue }),
        versions,
        taskFiles: tasks,
        killWhenFenced: true,
        onUnstoppable: ({ handlers }) => {
          log.error({ handlers }, 'ends with handlers that do not heed their signals');
          process.exit(exitStatus.badNews);
        },
      });
      await runWorker(worker, log);
    } finally {
      // Its worker has ended, and so does this process.
      await endsWithin(hf.close(), closeLimitMs);
    }
  });
}

function versionsOf(texts: string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, library, version] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (library !== undefined && version !== undefined) return [library, version];
      throw new InvalidTask(`--version must be LIBRARY=VERSION, such as ffmpeg=6.1.0; got ${text}.`);
    }),
  );
}

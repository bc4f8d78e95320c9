import { Command, Option } from 'commander';
import type { Isolation } from '../tasks/definition.js';
import { InvalidTask } from '../errors.js';
import { exitStatus } from './exit-status.js';
import { collect, integer } from './option-parsers.js';
import { onInvocation } from './invocation.js';
import { runWorker } from './run-worker.js';
import { withHoldfast } from './with-holdfast.js';

interface WorkerFlags {
  tasks: string[];
  name?: string;
  concurrency?: number;
  ttl?: string;
  grace?: string;
  queue?: string[];
  version?: string[];
  isolation?: Isolation;
  soleName?: boolean;
}

const about = `
Prints {"ready":true,"name":…,"incarnation":…} on stdout when it claims. SIGTERM and SIGINT stop it in order: it
claims no more, lets its tasks finish within the grace, gives the others back, and exits 0. A second signal ends it at
once: what it ran stays running, with its resources, as after a crash. So it does where a handler in its own process has
not heeded its signal 10 s after the grace; it exits 1 then. It exits 1 too when it was fenced: when it could no longer
prove that it is alive, and has stopped its tasks.
`;

export function workerCommand(): Command {
  const command = new Command('worker')
    .description('run tasks')
    .requiredOption('--tasks <file...>', 'what defines the tasks: JavaScript files, or folders of them')
    .option('--name <name>', 'default: HOLDFAST_WORKER_NAME, or the host name')
    .option('--concurrency <n>', 'how many tasks at once (default 10)', integer('--concurrency', 1, 10_000))
    .option('--ttl <duration>', 'declared dead after so long without a heartbeat (default 15s)')
    .option('--grace <duration>', 'how long tasks may take to finish when it is stopped (default 30s)')
    .option('--queue <name>', 'a queue to serve; may be given several times (default: default)', collect)
    .option('--version <library=version>', 'what it offers to tasks that need it; several times', collect)
    .addOption(
      new Option('--isolation <where>', 'where handlers run that do not say').choices(['inline', 'child']),
    )
    .option('--sole-name', 'no other worker ever has this name: whoever had it before is dead')
    .addHelpText('after', about);
  return onInvocation<WorkerFlags>(command, async ({ flags, global }) => {
    const { queue, version, tasks, ...options } = flags;
    const versions = versionsOf(version ?? []);
    await withHoldfast(global, { log: 'info' }, async (hf, log) => {
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
    });
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

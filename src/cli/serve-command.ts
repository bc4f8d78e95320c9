import { Command } from 'commander';
import { defaultWorkerName } from '../configuration.js';
import { longestTimerMs, timerMs } from '../tasks/check-task-options.js';
import { onInvocation } from './invocation.js';
import { integer } from './option-parsers.js';
import { runService } from './run-service.js';
import { spawnWorker } from './spawn-worker.js';
import { addWorkerFlags, argumentsOf, type WorkerFlags } from './worker-flags.js';

interface ServeFlags extends WorkerFlags {
  workers: number;
}

const about = `
Runs --workers processes of \`holdfast worker\`, NAME-1 and so on, with the options given. Prints
{"ready":true,"workers":[{"name":…,"incarnation":…,"pid":…},…]} on stdout when all of them claim; their logs go to
stderr. One that ends unasked is started again under its name, after 1 s, and after up to 30 s where it ends again and
again. On Linux what it ran and held is settled at once, and not after its TTL.

SIGTERM and SIGINT stop the workers in order, and exit 0 when all have stopped so, 1 when one has not and was killed, 5 s
after the grace at the latest. A second signal kills them at once. When this process is killed, they stop in order by
themselves.
`;

const defaultGrace = '30s';

/** More than a worker takes beyond its grace, whatever its handlers and the stores do. */
const beyondGraceMs = 4_400;

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('run supervised worker processes')
    .requiredOption('--workers <n>', 'how many', integer('--workers', 1, 1_000));
  addWorkerFlags(command).addHelpText('after', about);
  return onInvocation<ServeFlags>(command, async ({ flags, global }) => {
    const { workers, name = defaultWorkerName(process.env), ...others } = flags;
    await runService(global, {
      names: Array.from({ length: workers }, (_, at) => `${name}-${at + 1}`),
      start: (each) => spawnWorker(argumentsOf({ ...others, name: each }), global, 'inherit'),
      stopLimitMs: stopLimitMs(flags.grace ?? defaultGrace),
    });
  });
}

function stopLimitMs(grace: string): number {
  return Math.min(timerMs(grace, '--grace', 0) + beyondGraceMs, longestTimerMs);
}

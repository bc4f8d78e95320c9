import { Socket } from 'node:net';
import type { TaskDefinition } from '../tasks/definition.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { ChildJobContext } from './child-job-context.js';
import { plainChildError } from './child-error.js';
import { runJob } from './child-job.js';
import type { FromChild, JobMessage, SettledOutcome, ToChild } from './child-messages.js';
import { childPipe } from './child-pipe.js';
import { signalGroup } from './process-group.js';
import { armWatchdog } from './watchdog.js';
import { watchdogVariable } from './watchdog-address.js';

// A child process: it leads a process group, arms its watchdog, loads the task files, and then runs the jobs
// that its parent sends over descriptor 3, one at a time.

// What this process was started with can still be read in /proc; what a task starts must not be taken for a child.
delete process.env[watchdogVariable];

const loaded = new Map<string, TaskDefinition>();
let loading: Promise<unknown> = Promise.reject(new Error('A job came before the task files were named.'));
loading.catch(() => {});
let current: { id: number; job: ChildJobContext } | null = null;

const socket = new Socket({ fd: 3, readable: true, writable: true });
const pipe = childPipe<FromChild>(socket, (message) => hear(message as ToChild), die);
// The parent is gone, and did not say `end`.
socket.on('close', die);

function hear(message: ToChild): void {
  if (message.type === 'load') loading = load(message);
  else if (message.type === 'job') void run(message);
  else if (message.type === 'end') process.exit(0);
  else if (message.job !== current?.id) return;
  else if (message.type === 'abort') current.job.abort(message.reason);
  else current.job.answer(message.id, message.answer);
}

/** G1: no task code runs, not even its top level, in a process that nothing would stop. */
async function load({ taskFiles, watchdogAddress }: Extract<ToChild, { type: 'load' }>): Promise<void> {
  await armWatchdog(watchdogAddress);
  pipe.send({ type: 'armed' });
  for (const definition of await loadTaskFiles(taskFiles)) loaded.set(definition.name, definition);
  pipe.send({ type: 'ready' });
}

async function run(message: JobMessage): Promise<void> {
  const job = new ChildJobContext(message, loaded, (answer) => pipe.send(answer));
  current = { id: message.job, job };
  const started = (): void => pipe.send({ type: 'started', job: message.job });
  const outcome = await loading.then(() => runJob(message, job, loaded, started), notLoaded);
  current = null;
  pipe.send({ type: 'settled', job: message.job, outcome });
}

function notLoaded(error: unknown): SettledOutcome {
  return { status: 'failed', error: plainChildError(error) };
}

function die(): void {
  signalGroup(process.pid, 'SIGKILL');
}

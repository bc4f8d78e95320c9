// What the tests of child processes run in real ones. It imports the build, as children do.
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, writeSync } from 'node:fs';
import { defineTask } from '../../../dist/tasks/definition.js';
import { Unretryable } from '../../../dist/tasks/unretryable.js';

const define = (name, run, more = {}) => defineTask({ name, run, ...more });

const even = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (value % 2 === 0 ? { value: value / 2 } : { issues: [{ message: 'must be even' }] }),
  },
};

// Never gives its thread back, and neither does the process that it starts.
function writeForever(file) {
  const script = `for (;;) require('fs').appendFileSync(${JSON.stringify(`${file}.grandchild`)}, 'x')`;
  const grandchild = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  appendFileSync(`${file}.pids`, `${process.pid} ${grandchild.pid}\n`);
  for (;;) appendFileSync(`${file}.child`, 'x');
}

function startProcess() {
  return spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }).pid;
}

export default [
  define('echo', (payload) => payload),
  define('half', (payload) => payload, { payload: even }),
  define('pid', () => process.pid),
  define('context', (_, { task, attempt, fence, signal }) => ({
    id: task.id,
    attempt,
    fence,
    aborted: signal.aborted,
  })),
  define('write-forever', writeForever),
  define('report', (_, { progress, log }) => {
    progress({ done: 1 });
    log.warn({ error: new Error('inside'), big: 1n }, 'careful');
    progress({ done: 2 });
  }),
  define('bad-progress', (_, { progress }) => progress({ big: 1n })),
  define('until-aborted', async (_, { signal, progress }) => {
    progress('waiting');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return `${signal.reason.name}: ${signal.reason.message}`;
  }),
  define('deaf', async (_, { progress }) => {
    progress('waiting');
    process.on('SIGTERM', () => {});
    await new Promise(() => {});
  }),
  define('dispatch', async (_, { dispatch }) => {
    const task = await dispatch('echo', { n: 1 }, { exclusive: ['b', 'a'] });
    return [task.id, task.parent];
  }),
  define('dispatch-badly', (_, { dispatch }) => dispatch('echo', null, { nonsense: 1 })),
  define('throw', () => {
    throw Object.assign(new TypeError('broken'), { code: 'EBROKEN' });
  }),
  define('throw-for-good', () => {
    throw new Unretryable('never');
  }),
  define('throw-oddly', () => {
    throw {
      toString: () => {
        throw new Error('no');
      },
      get message() {
        throw new Error('no');
      },
    };
  }),
  define('bigint', () => 1n),
  define('huge', () => 'x'.repeat(2_000_000)),
  define('exit', () => process.exit(7)),
  define('kill-self', () => process.kill(process.pid, 'SIGKILL')),
  define('start-process-and-wait', async (_, { progress }) => {
    progress(startProcess());
    await new Promise(() => {});
  }),
  define('start-process-and-exit', (_, { progress }) => {
    progress(startProcess());
    process.exit(0);
  }),
  define('print', () => console.log('printed by a handler')),
  define('junk', async (text) => {
    writeSync(3, `${text}\n`);
    await new Promise(() => {});
  }),
  define('close-pipe', async () => {
    closeSync(3);
    await new Promise(() => {});
  }),
  define('late-progress', (_, { progress }) => {
    setTimeout(() => progress('too late'), 50);
  }),
];

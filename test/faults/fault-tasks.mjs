// Tasks for the tests that kill a process at each fault point: their handlers write down when they ran.
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { defineTask } from '../../dist/tasks/definition.js';

/** In a process that is to be killed. */
const isVictim = process.env.HOLDFAST_TEST_KILL_AT !== undefined;
const resources = ({ holds = 'r' }) => ({ exclusive: [holds] });

async function written({ journal }, { task, fence }, work = async () => {}) {
  const write = (kind) => {
    const { id, entry, exclusive, shared } = task;
    const at = process.hrtime.bigint().toString();
    const line = { kind, task: id, entry, at, exclusive, shared, fence, order: null };
    appendFileSync(journal, `\n${JSON.stringify(line)}`);
  };
  write('start');
  try {
    await work();
  } finally {
    write('end');
  }
}

function fail() {
  throw new Error('boom');
}

export default [
  defineTask({ name: 'job', resources, onWorkerLost: 'retry', run: written }),
  defineTask({
    name: 'retried',
    resources,
    onWorkerLost: 'retry',
    ...{ maxAttempts: 2, backoff: { initial: '10ms' } },
    run: (payload, ctx) => written(payload, ctx, async () => ctx.attempt === 1 && fail()),
  }),
  defineTask({
    name: 'stopped',
    resources,
    run: (payload, ctx) =>
      written(payload, ctx, async () => {
        if (!isVictim) return;
        await once(ctx.signal, 'abort');
        fail();
      }),
  }),
  defineTask({
    name: 'rolled-back',
    resources,
    run: (payload, ctx) => written(payload, ctx, async () => fail()),
    rollback: written,
  }),
];

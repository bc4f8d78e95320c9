// The task file of these tests' worker processes: handlers that write down when they ran, and go on writing meanwhile.
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTask } from 'holdfast';

const path = process.env.JOURNAL;

function write(kind, { task: { id, entry, payload, exclusive, shared }, fence }) {
  const at = process.hrtime.bigint().toString();
  const line = { kind, task: id, entry, at, exclusive, shared, fence, order: payload.order ?? null };
  appendFileSync(path, `\n${JSON.stringify(line)}`);
}

/** While a handler gives its thread back it proves again and again that it runs: one that was killed wrote no end. */
function define(name, run, more = {}) {
  return defineTask({
    name,
    run: async (payload, context) => {
      write('start', context);
      context.progress('runs');
      const alive = setInterval(() => write('alive', context), 25);
      try {
        return await run(payload, context);
      } finally {
        clearInterval(alive);
        write('end', context);
      }
    },
    ...more,
  });
}

const untilGone = async ({ until }, { signal }) => {
  while (existsSync(until)) await delay(20, undefined, { signal });
};
const inChild = { isolation: 'child' };

export default [
  define('work', ({ ms = 0 }) => delay(ms)),
  define('holds', untilGone),
  define('holds in a child', untilGone, inChild),
  define('ignores its signal', async ({ until }) => {
    while (existsSync(until)) await delay(20);
  }),
  define('ignores SIGTERM in a child', () => (process.on('SIGTERM', () => {}), delay(3_600_000)), inChild),
  defineTask({ name: 'tells the time', run: () => Date.now() }),
  define('spins', ({ ms }, context) => {
    const until = performance.now() + ms;
    while (performance.now() < until) if (Math.random() < 1e-7) write('alive', context);
  }),
];

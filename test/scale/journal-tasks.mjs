// The task file of the scale tests' worker processes: handlers that write down when they ran.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTask } from '../../dist/index.js';

const path = process.env.JOURNAL;

function write(kind, payload, ctx) {
  const { id, entry, exclusive, shared } = ctx.task;
  const at = process.hrtime.bigint().toString();
  const line = {
    kind,
    task: id,
    entry,
    at,
    exclusive,
    shared,
    fence: ctx.fence,
    order: payload.order ?? null,
  };
  if (path !== undefined) appendFileSync(path, `\n${JSON.stringify(line)}`);
}

export const work = defineTask({
  name: 'journal.work',
  async run(payload, ctx) {
    write('start', payload, ctx);
    await delay(payload.ms ?? 0);
    write('end', payload, ctx);
    return null;
  },
});

/** Runs until its file exists no more. */
export const hold = defineTask({
  name: 'journal.hold',
  async run(payload, ctx) {
    write('start', payload, ctx);
    const { existsSync } = await import('node:fs');
    while (existsSync(payload.until)) await delay(20, undefined, { signal: ctx.signal });
    write('end', payload, ctx);
    return null;
  },
});

// The task file of the soak's worker processes: handlers of every kind that write down when they ran.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTask } from '../../dist/index.js';

const path = process.env.JOURNAL;

function write(kind, { task: { id, entry, exclusive, shared }, fence }) {
  const at = process.hrtime.bigint().toString();
  const line = { kind, task: id, entry, at, exclusive, shared, fence, order: null };
  if (path !== undefined) appendFileSync(path, `\n${JSON.stringify(line)}`);
}

/** Whatever becomes of the work, it has ended when the handler has. */
const journaled = (work) => async (payload, context) => {
  write('start', context);
  try {
    return await work(payload, context);
  } finally {
    write('end', context);
  }
};

const rest = ({ ms }, { signal }) => delay(ms, undefined, { signal });
const define = (name, run, more = {}) => defineTask({ name, run: journaled(run), ...more });
const often = { maxAttempts: 3, backoff: { initial: '20ms', max: '100ms' } };

export const works = define('soak.works', rest);

export const fails = define(
  'soak.fails',
  async (payload, context) => {
    await rest(payload, context);
    if (context.attempt <= payload.failures) throw new Error('as it should');
  },
  often,
);

export const rollsBack = define(
  'soak.rolls-back',
  async (payload, context) => {
    await rest(payload, context);
    if (context.attempt <= payload.failures) throw new Error('as it should');
  },
  { ...often, rollback: journaled(rest), rollbackTimeout: '1m' },
);

export const deaf = define('soak.deaf', ({ ms }) => delay(ms));

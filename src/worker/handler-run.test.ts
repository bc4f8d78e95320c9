import { expect, test } from 'vitest';
import type { Logger } from '../log.js';
import type { TaskRow } from '../store/store.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { HandlerEnd } from './handler-end.js';
import { silentLogger } from '../log.js';
import { defineTask } from '../tasks/definition.js';
import { startHandler } from './handler-run.js';

const row = { id: 'id', name: 'job', attempt: 1, fence: '1', rollback: null } as unknown as TaskRow;

function refuse(): never {
  throw new TypeError('not for you');
}

/** The end of a handler that throws `thrown` in this process, whose worker logs through `log`. */
function endOf(thrown: unknown, log: Logger): Promise<HandlerEnd | 'not-started'> {
  const run = (): never => {
    throw thrown;
  };
  const ports = { isolation: 'inline', incarnation: { log }, dispatching: { of: () => {} } };
  const definition = defineTask({ name: 'job', run });
  const start = { definition, handler: 'run', row, payload: null, progress: () => {} } as const;
  return startHandler({ ...start, ports: ports as unknown as AttemptPorts }).end;
}

/** Reads errors as the serializers of loggers do. */
const reading: Logger = {
  ...silentLogger,
  warn: (fields) => void Object.entries((fields as { err: object }).err),
};
const trap = new Proxy(new Error('never seen'), {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
});

test.each([
  [
    'an error whose stack cannot be read',
    Object.defineProperty(new Error('odd'), 'stack', { get: refuse, enumerable: true }),
  ],
  ['a proxy that refuses everything', trap],
  ['an object without a prototype', Object.create(null)],
])('%s is thrown like any other error, and may be retried', async (_, thrown) => {
  expect(await endOf(thrown, reading)).toMatchObject({ end: 'failed', unretryable: false });
});

test('what a handler threw is its end also where it cannot be logged', async () => {
  const log = { ...silentLogger, warn: refuse };
  expect(await endOf(new Error('mine'), log)).toMatchObject({ end: 'failed', error: { message: 'mine' } });
});

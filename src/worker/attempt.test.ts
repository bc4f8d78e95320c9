import { expect, test } from 'vitest';
import type { TaskRow } from '../store/store.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { ChildOutcome } from './child-pool.js';
import { silentLogger } from '../log.js';
import { defineTask } from '../tasks/definition.js';
import { Attempt } from './attempt.js';

const row = {
  ...{ id: 'id', name: 'job', entry: 4, attempt: 1, payload: null, exclusive: [], shared: [], fence: '1' },
  ...{
    readmitted: false,
    attempts: [],
    rollback: null,
    policies: defineTask({ name: 'job', maxAttempts: 2, run: () => {} }).policies,
  },
} as unknown as TaskRow;

function attemptIn(
  outcome: ChildOutcome,
  ports: Partial<AttemptPorts> = {},
  of: Partial<TaskRow> = {},
): Attempt {
  const incarnation = { log: silentLogger, mayAct: () => true, isFenced: () => false };
  const nothing = (): void => {};
  const acts = { abort: nothing, terminate: nothing, kill: nothing };
  const run = { outcome: Promise.resolve(outcome), started: Promise.resolve(), ...acts };
  const shared = {
    incarnation,
    definitions: new Map([['job', defineTask({ name: 'job', run: () => {} })]]),
    isolation: 'child',
    children: () => ({ run: () => run, stop: async () => {} }),
    progress: { flush: async () => {} },
    ...ports,
  };
  return new Attempt({ ...row, ...of }, shared as unknown as AttemptPorts);
}

test('a task whose child could not be started is given back as if it had not been claimed', async () => {
  const outcome: ChildOutcome = { status: 'not-started', error: { name: 'Error', message: 'no process' } };
  expect(await attemptIn(outcome).run()).toEqual({ end: 'not-run', after: 'move' });
});

test('a task whose policies could not be stored is given back before its handler begins', async () => {
  const children = (): never => {
    throw new Error('It began.');
  };
  const ports = { writePolicies: async () => false, children };
  const attempt = attemptIn({ status: 'completed', result: 1 }, ports, { policies: null });
  expect(await attempt.run()).toEqual({ end: 'not-run', after: 'move' });
});

test('an attempt whose child was ended by a signal has failed, and is retried', async () => {
  const outcome: ChildOutcome = { status: 'died', exitCode: null, signal: 'SIGSEGV', sentByUs: false };
  expect(await attemptIn(outcome).run()).toMatchObject({
    end: 'finished',
    finish: { task: 'id', entry: 4, state: 'retry', error: { code: 'ChildDied', reason: 'child-died' } },
  });
});

test('a task without a definition here fails', async () => {
  const attempt = attemptIn({ status: 'completed', result: 1 }, { definitions: new Map() });
  expect(await attempt.run()).toMatchObject({ finish: { state: 'failed', error: { code: 'UnknownTask' } } });
});

test('whatever breaks in the pipeline itself is the end of the attempt', async () => {
  const children = (): never => {
    throw new Error('a bug');
  };
  const attempt = attemptIn({ status: 'completed', result: 1 }, { children });
  expect(await attempt.run()).toMatchObject({
    finish: { state: 'failed', error: { message: 'Error: a bug' } },
  });
});

import { expect, test } from 'vitest';
import type { TaskRow } from '../store/store.js';
import type { AttemptPorts } from './attempt-ports.js';
import { silentLogger } from '../log.js';
import { defineTask } from '../tasks/definition.js';
import { Rollback } from './rollback.js';

const now = '2030-01-01T00:00:00.000Z';
const later = '2030-01-01T00:01:00.000Z';
let runs = 0;
const withRollback = defineTask({ name: 'job', run: () => {}, rollback: () => void (runs += 1) });

function rollbackUntil(until: string, ports: object = {}): Rollback {
  runs = 0;
  const row = {
    ...{ id: 'id', name: 'job', entry: 4, attempt: 1, payload: null, fence: '1', attempts: [] },
    rollback: { outcome: 'failed', delayMs: null, until, startedAt: now },
  } as unknown as TaskRow;
  const shared = {
    incarnation: { log: silentLogger, mayAct: () => true, isFenced: () => false },
    definitions: new Map([['job', withRollback]]),
    isolation: 'inline',
    dispatching: { of: () => {} },
    progress: { flush: async () => {} },
    ...ports,
  };
  return new Rollback(row, shared as unknown as AttemptPorts);
}

test('it runs, and ends as rolled back', async () => {
  const end = { end: 'finished', finish: { task: 'id', entry: 4, state: 'rolled-back' } };
  expect(await rollbackUntil(later).run()).toEqual(end);
  expect(runs).toBe(1);
});

test('one whose time is over at its claim is not run', async () => {
  expect(await rollbackUntil(now).run()).toMatchObject({
    finish: { state: 'rollback-not-run', error: { code: 'RollbackNotRun' } },
  });
  expect(runs).toBe(0);
});

test('where the definition has no roll-back, or none is loaded, it was not run', async () => {
  const without = new Map([['job', defineTask({ name: 'job', run: () => {} })]]);
  for (const definitions of [without, new Map()]) {
    expect(await rollbackUntil(later, { definitions }).run()).toMatchObject({
      finish: { state: 'rollback-not-run', error: { code: 'UnknownTask' } },
    });
  }
});

test('a worker that may no longer act does not run it', async () => {
  const incarnation = { log: silentLogger, mayAct: () => false, isFenced: () => false };
  expect(await rollbackUntil(later, { incarnation }).run()).toEqual({ end: 'fenced' });
  expect(runs).toBe(0);
});

test('a worker that stops gives it back without running it', async () => {
  const rollback = rollbackUntil(later);
  rollback.stop();
  expect(await rollback.run()).toMatchObject({ end: 'stopped', after: 'move' });
  expect(runs).toBe(0);
});

test('a child that could not be started has not rolled back: it is given back', async () => {
  const nothing = (): void => {};
  const outcome = Promise.resolve({ status: 'not-started', error: { name: 'Error', message: 'no' } });
  const run = { outcome, started: new Promise(() => {}), abort: nothing, terminate: nothing, kill: nothing };
  const children = (): unknown => ({ run: () => run });
  const rollback = rollbackUntil(later, { isolation: 'child', children });
  expect(await rollback.run()).toEqual({ end: 'not-run', after: 'move' });
});

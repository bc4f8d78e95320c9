import { expect, test } from 'vitest';
import { finishOf } from './attempt-end.js';

const hold = { task: 'id', entry: 4 };
const error = { code: 'Error', message: 'no' };
const policies = {
  maxAttempts: 3,
  maxCrashes: 3,
  backoff: { initialMs: 1_000, maxMs: 10_000 },
  onWorkerLost: null,
  timeoutMs: null,
  rollbackTimeoutMs: null,
};
const failed = { end: 'failed', error, unretryable: false } as const;

test('a completed attempt completes its task', () => {
  expect(finishOf(hold, 1, policies, { end: 'completed', result: 7 })).toEqual({
    ...hold,
    state: 'completed',
    result: 7,
  });
});

test('a failed attempt is retried later and later while attempts are left', () => {
  expect(finishOf(hold, 1, policies, failed, () => 0)).toEqual({
    ...hold,
    state: 'retry',
    error,
    delayMs: 1_000,
  });
  expect(finishOf(hold, 2, policies, failed, () => 0)).toEqual({
    ...hold,
    state: 'retry',
    error,
    delayMs: 2_000,
  });
  expect(finishOf(hold, 3, policies, failed)).toEqual({ ...hold, state: 'failed', error });
});

test('what would fail alike is not retried', () => {
  expect(finishOf(hold, 1, policies, { ...failed, unretryable: true })).toMatchObject({ state: 'failed' });
});

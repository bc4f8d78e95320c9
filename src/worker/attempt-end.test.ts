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
  expect(finishOf(hold, { attempt: 1, crashes: 0 }, policies, { end: 'completed', result: 7 })).toEqual({
    ...hold,
    state: 'completed',
    result: 7,
  });
});

test('a failed attempt is retried later and later while attempts are left', () => {
  expect(finishOf(hold, { attempt: 1, crashes: 0 }, policies, failed, () => 0)).toEqual({
    ...hold,
    state: 'retry',
    error,
    delayMs: 1_000,
  });
  expect(finishOf(hold, { attempt: 2, crashes: 0 }, policies, failed, () => 0)).toEqual({
    ...hold,
    state: 'retry',
    error,
    delayMs: 2_000,
  });
  expect(finishOf(hold, { attempt: 3, crashes: 0 }, policies, failed)).toEqual({
    ...hold,
    state: 'failed',
    error,
  });
});

test('what would fail alike is not retried', () => {
  expect(
    finishOf(hold, { attempt: 1, crashes: 0 }, policies, { ...failed, unretryable: true }),
  ).toMatchObject({ state: 'failed' });
});

test('one that crashes is retried while attempts are left, and fails at its last crash', () => {
  const crashed = { ...failed, crashed: true };
  const many = { ...policies, maxAttempts: 100 };
  expect(finishOf(hold, { attempt: 9, crashes: 1 }, many, crashed)).toMatchObject({
    ...{ state: 'retry', error, crashed: true },
  });
  expect(finishOf(hold, { attempt: 9, crashes: 2 }, many, crashed)).toMatchObject({
    ...{ state: 'failed', error: { ...error, reason: 'crashed' }, crashed: true },
  });
  expect(finishOf(hold, { attempt: 9, crashes: 2 }, many, failed)).toMatchObject({ state: 'retry', error });
});

import { expect, test } from 'vitest';
import { backoffMs } from './backoff.js';

const backoff = { initialMs: 1_000, maxMs: 60_000 };

test('the pause doubles from failure to failure up to its maximum', () => {
  const pauses = [1, 2, 3, 6, 7, 8, 1_000].map((failures) => backoffMs(backoff, failures, () => 0));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});

test('the jitter takes off up to a quarter', () => {
  expect(backoffMs(backoff, 2, () => 1)).toBe(1_500);
  expect(backoffMs(backoff, 2, () => 0.5)).toBe(1_750);
});

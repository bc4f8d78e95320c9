import { expect, it } from 'vitest';
import { bytesText, durationText, timeText, tookText } from './texts.js';

it('writes durations in the unit that fits', () => {
  expect([12, 999, 1_500, 59_900, 61_000, 3_720_000].map(durationText)).toEqual([
    '12ms',
    '999ms',
    '1.5s',
    '59.9s',
    '1m1s',
    '1h2m',
  ]);
});

it('writes sizes in the unit that fits', () => {
  expect([0, 1_023, 1_024, 1_536, 5 * 1_024 ** 2, 3 * 1_024 ** 5].map(bytesText)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '5.0 MiB',
    '3072.0 TiB',
  ]);
});

it('leaves the milliseconds of a time out', () => {
  expect(timeText('2030-01-31T08:00:00.123Z')).toBe('2030-01-31T08:00:00Z');
});

it('tells how long an attempt took when it has ended', () => {
  const startedAt = '2030-01-31T08:00:00.000Z';
  expect(tookText({ startedAt, finishedAt: '2030-01-31T08:00:02.500Z' })).toBe('2.5s');
  expect(tookText({ startedAt, finishedAt: null })).toBe('');
});

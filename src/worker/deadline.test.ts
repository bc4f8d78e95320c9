import { describe, expect, test, vi } from 'vitest';
import {
  checkAtDeadline,
  checkIntervalMs,
  currentMoment,
  fencingMarginMs,
  isPast,
  momentAfter,
  msUntil,
} from './deadline.js';

const now = { monotonicMs: 1_000, bootMs: 5_000 };

describe('a deadline', () => {
  test('is past when either clock has reached it', () => {
    const deadline = momentAfter(now, 100);
    expect(isPast(deadline, momentAfter(now, 99))).toBe(false);
    expect(isPast(deadline, { ...now, monotonicMs: 1_100 })).toBe(true);
    // After a suspend only the boot clock has moved.
    expect(isPast(deadline, { ...now, bootMs: 5_100 })).toBe(true);
    expect(msUntil(deadline, { monotonicMs: 1_010, bootMs: 5_060 })).toBe(40);
  });

  test('leaves time to stop everything before the TTL is over', () => {
    expect([15_000, 2_000, 300].map(fencingMarginMs)).toEqual([1_500, 250, 150]);
  });

  test('does not move when the date is set', () => {
    const deadline = momentAfter(currentMoment(), 5_000);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    try {
      expect(isPast(deadline)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is checked when it passes, and stopped from within the check', async () => {
    const deadline = momentAfter(currentMoment(), 250);
    const past = await new Promise<number>((resolve) => {
      const checks = checkAtDeadline(
        () => deadline,
        () => {
          if (!isPast(deadline)) return;
          checks.stop();
          resolve(-msUntil(deadline));
        },
        checkIntervalMs(15_000),
      );
    });
    expect(past).toBeLessThan(100);
  });
});

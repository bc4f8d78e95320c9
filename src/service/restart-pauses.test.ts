import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RestartPauses } from './restart-pauses.js';

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const shortLife = fc.integer({ min: 0, max: 59_999 });
const longLife = fc.integer({ min: 60_000, max: 1_000_000_000 });

describe('the pause before a worker process is started again', () => {
  test('is always one of 1 s … 30 s', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.oneof(shortLife, longLife), random), { minLength: 1 }), (lives) => {
        let drawn = 0;
        const pauses = new RestartPauses(() => drawn);
        for (const [livedMs, value] of lives) {
          drawn = value;
          const pauseMs = pauses.after(livedMs);
          expect(pauseMs).toBeGreaterThanOrEqual(1_000);
          expect(pauseMs).toBeLessThanOrEqual(30_000);
        }
      }),
    );
  });

  test('doubles from life to life while they are short, and begins anew after a long one', () => {
    const pauses = new RestartPauses(() => 0);
    const short = [1, 2, 3, 4, 5, 6, 7].map(() => pauses.after(59_999));
    expect(short).toEqual([1_334, 2_668, 5_336, 10_672, 21_344, 30_000, 30_000]);
    expect(pauses.after(60_000)).toBe(1_334);
    expect(pauses.after(10)).toBe(2_668);
  });

  test('differs for those that ended together', () => {
    fc.assert(
      fc.property(random, random, (one, other) => {
        fc.pre(Math.abs(one - other) > 0.01);
        const [first, second] = [one, other].map((value) => new RestartPauses(() => value).after(0));
        expect(first).not.toBe(second);
      }),
    );
  });
});

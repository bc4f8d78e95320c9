import { expect, test } from 'vitest';
import { isAmong } from './is-among.js';

const all = Array.from({ length: 1_000 }, (_, index) => String(index + 1));

test('so many are chosen, whoever asks', () => {
  expect(all.filter((self) => isAmong(64, all, self))).toHaveLength(64);
  expect(all.filter((self) => isAmong(64, all.toReversed(), self))).toHaveLength(64);
  expect(all.slice(0, 64).every((self) => isAmong(64, all.slice(0, 64), self))).toBe(true);
});

test('whether or not they find themselves among the others', () => {
  const without = (self: string): string[] => all.filter((each) => each !== self);
  expect(all.filter((self) => isAmong(64, without(self), self))).toHaveLength(64);
});

test('and they are spread: no hundred neighbours have them all', () => {
  for (let from = 0; from < 1_000; from += 100) {
    const chosen = all.slice(from, from + 100).filter((self) => isAmong(64, all, self));
    expect(chosen.length).toBeGreaterThan(0);
    expect(chosen.length).toBeLessThan(20);
  }
});

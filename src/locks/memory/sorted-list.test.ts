import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedList } from './sorted-list.js';

const numbers = (): SortedList<number> => new SortedList<number>((a, b) => a - b);

test('it does what a sorted array of distinct items does', () => {
  const step = fc.tuple(fc.constantFrom('add', 'delete'), fc.integer({ min: 0, max: 40 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const list = numbers();
      const model = new Set<number>();
      for (const [what, item] of steps) {
        if (what === 'add') expect(list.add(item)).toBe(!model.has(item) && Boolean(model.add(item)));
        else expect(list.delete(item)).toBe(model.delete(item));
      }
      expectSame(list, model);
    }),
  );
});

test('it stays in order over many buckets, added in any order and removed again', () => {
  const list = numbers();
  const model = new Set<number>();
  for (let item = 0; item < 5_000; item++) {
    const scattered = (item * 7_919) % 5_003;
    list.add(scattered);
    model.add(scattered);
  }
  expectSame(list, model);
  for (let item = 0; item < 5_003; item += 3) expect(list.delete(item)).toBe(model.delete(item));
  expectSame(list, model);
});

test('a clone changes alone', () => {
  const list = numbers();
  list.add(1);
  const copy = list.clone();
  copy.add(2);
  list.delete(1);
  expect([...list]).toEqual([]);
  expect([...copy]).toEqual([1, 2]);
  expect([list.size, copy.size]).toEqual([0, 2]);
});

function expectSame(list: SortedList<number>, model: Set<number>): void {
  const items = [...model].sort((a, b) => a - b);
  expect([...list]).toEqual(items);
  expect(list.size).toBe(items.length);
  expect(list.first()).toBe(items[0]);
  for (const item of [-1, 0, 7, 20, 2_501, 6_000]) {
    expect(list.has(item)).toBe(model.has(item));
    expect(list.rank(item)).toBe(items.indexOf(item));
    expect([...list.from(item)]).toEqual(items.filter((other) => other >= item));
  }
}

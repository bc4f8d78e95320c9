import { expect, test } from 'vitest';
import { chunksOf, countResources } from './chunks.js';

const sizes = (chunks: unknown[][]): number[] => chunks.map((chunk) => chunk.length);

test('a batch without weights is cut at 100 items, in order', () => {
  const items = Array.from({ length: 250 }, (_, index) => index);
  const chunks = chunksOf(items);
  expect(sizes(chunks)).toEqual([100, 100, 50]);
  expect(chunks.flat()).toEqual(items);
});

test('a batch is cut before the weights of a call exceed 500', () => {
  expect(chunksOf([200, 300, 1, 499, 1], (weight) => weight)).toEqual([[200, 300], [1, 499], [1]]);
});

test('an item of 500 goes alone, beside items that weigh nothing', () => {
  expect(sizes(chunksOf([0, 500, 0, 500], (weight) => weight))).toEqual([3, 1]);
});

test('an item heavier than a call goes alone', () => {
  expect(chunksOf([1, 5_000, 1], (weight) => weight)).toEqual([[1], [5_000], [1]]);
});

test('an empty batch makes no call', () => {
  expect(chunksOf([])).toEqual([]);
});

test('the weight of a hold is the number of its resources', () => {
  expect(countResources({ exclusive: ['a', 'b'], shared: ['c'] })).toBe(3);
});

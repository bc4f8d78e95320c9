import { expect, test } from 'vitest';
import { InvalidTask } from '../errors.js';
import { checkHold, checkMove } from './check-hold.js';

const hold = { task: 't', entry: 1, lane: 'l', priority: 0, place: '1', exclusive: ['a'], shared: ['b'] };

test('a hold is put in normal form: sorted, no duplicates, exclusive wins over shared', () => {
  const given = { ...hold, exclusive: ['b', 'a', 'b'], shared: ['c', 'a', 'c'] };
  expect(checkHold(given)).toEqual({ ...hold, exclusive: ['a', 'b'], shared: ['c'] });
});

test.each([
  { task: '' },
  { task: 'a\0b' },
  { entry: 0 },
  { entry: 1.5 },
  { entry: 2 ** 53 },
  { lane: '' },
  { priority: 32_768 },
  { priority: -32_769 },
  { priority: 0.5 },
  { place: '' },
  { place: '-1' },
  { place: '12345678901234567890' },
  { exclusive: [''] },
  { shared: ['\ud800'] },
  { shared: ['x'.repeat(1_025)] },
  { exclusive: Array.from({ length: 1_001 }, (_, index) => `r${index}`) },
])('a hold with %j is refused', (change) => {
  expect(() => checkHold({ ...hold, ...change })).toThrow(InvalidTask);
});

test('a move goes to a later entry only', () => {
  expect(() => checkMove({ task: 't', entry: 2, nextEntry: 2 })).toThrow(InvalidTask);
  expect(() => checkMove({ task: 't', entry: 2, nextEntry: 3 })).not.toThrow();
});

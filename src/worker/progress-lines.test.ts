import { expect, test } from 'vitest';
import { InvalidTask } from '../errors.js';
import { ProgressLines } from './progress-lines.js';

test('a line with a name takes the place of the one of that name, every other is added', () => {
  const lines = new ProgressLines();
  for (const update of ['started', { name: 'files', done: 1 }, { done: 2 }, { name: 'files', done: 2 }]) {
    lines.add(update);
  }
  expect(lines.values).toEqual(['started', { name: 'files', done: 2 }, { done: 2 }]);
});

test('what the handler does to its object afterwards does not matter', () => {
  const lines = new ProgressLines();
  const update = { done: 1 };
  lines.add(update);
  update.done = 2;
  expect(lines.values).toEqual([{ done: 1 }]);
});

test('the oldest lines go: there are at most 100, and 1 MiB in all', () => {
  const lines = new ProgressLines();
  for (let line = 0; line < 150; line += 1) lines.add(line);
  expect(lines.values).toEqual(Array.from({ length: 100 }, (_, index) => index + 50));
  lines.add('x'.repeat(1_048_570));
  expect(lines.values).toHaveLength(2);
});

test('an update that is no JSON is refused', () => {
  expect(() => new ProgressLines().add({ size: 1n })).toThrow(InvalidTask);
});

import { expect, test } from 'vitest';
import { lacksResources } from './lacking-resources.js';

const held = { exclusive: ['a'], shared: ['b'] };

test.each([
  [{ exclusive: ['a'], shared: ['b'] }, false],
  [{ exclusive: [], shared: ['a', 'b'] }, false],
  [{ exclusive: [], shared: [] }, false],
  [{ exclusive: ['b'], shared: [] }, true],
  [{ exclusive: ['c'], shared: [] }, true],
  [{ exclusive: [], shared: ['c'] }, true],
])('a hold of a exclusively and b shared lacks something of %j: %s', (needed, lacks) => {
  expect(lacksResources(held, needed)).toBe(lacks);
});

import { expect, test } from 'vitest';
import { shown } from './shown.js';

function refuse(): never {
  throw new TypeError('not for you');
}

test.each<[unknown, string]>([
  ['5 "minutes"', String.raw`"5 \"minutes\""`],
  [12n, '12n'],
  [Symbol('s'), 'Symbol(s)'],
  [Object.create(null), '[Object: null prototype] {}'],
  [['default'], "[ 'default' ]"],
  [new RangeError('too far'), 'RangeError: too far'],
  [{ toString: refuse, toJSON: refuse }, '{ toString: [Function: refuse], toJSON: [Function: refuse] }'],
  [{ [Symbol.for('nodejs.util.inspect.custom')]: refuse }, 'something that cannot be shown'],
  [Object.assign(new Error('x'), { toString: refuse }), 'something that cannot be shown'],
])('%# is shown', (value, text) => {
  expect(shown(value)).toBe(text);
});

test('what is long is cut', () => {
  expect(shown('x'.repeat(1_000))).toBe(`"${'x'.repeat(99)}…`);
  expect(shown(new Error('x'.repeat(150)), 200)).toHaveLength(157);
});

import { describe, expect, it } from 'vitest';
import { InvalidTask } from '../errors.js';
import { nearest, refuseUnknownOptions } from './known-options.js';

describe('refuseUnknownOptions', () => {
  it('takes what is known', () => {
    expect(() => refuseUnknownOptions({ queue: 1, runAt: 2 }, ['queue', 'runAt'], 'dispatch')).not.toThrow();
  });

  it('names the option and suggests the nearest one', () => {
    const refuse = (): void => refuseUnknownOptions({ prioritiy: 1 }, ['queue', 'priority'], 'dispatch');
    expect(refuse).toThrow(InvalidTask);
    expect(refuse).toThrow('dispatch takes no option "prioritiy". Did you mean "priority"?');
  });

  it('lists what it takes where nothing is near', () => {
    expect(() => refuseUnknownOptions({ uniqueKey: 1 }, ['queue', 'runAt'], 'dispatch')).toThrow(
      'dispatch takes no option "uniqueKey". It takes queue, runAt.',
    );
  });
});

describe('options in the place of which something else is given', () => {
  it.each([
    [null, 'null'],
    [5_000, '5000'],
    ['5s', '"5s"'],
    [['timeout'], "[ 'timeout' ]"],
    [10n, '10n'],
    [Symbol('s'), 'Symbol(s)'],
  ])('are refused: %#', (given, text) => {
    const refuse = (): void => refuseUnknownOptions(given, ['timeout'], 'wait');
    expect(refuse).toThrow(InvalidTask);
    expect(refuse).toThrow(`wait takes its options as an object; got ${text}.`);
  });
});

describe('nearest', () => {
  it.each([
    ['runat', 'runAt'],
    ['maxAttempt', 'maxAttempts'],
    ['exclusives', 'exclusive'],
    ['on', null],
    ['rollback', null],
  ])('%s → %s', (word, expected) => {
    expect(nearest(word, ['runAt', 'maxAttempts', 'exclusive', 'tx', 'backoff'])).toBe(expected);
  });
});

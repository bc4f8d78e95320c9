import { expect, test } from 'vitest';
import { plainError, plainValue } from './plain-outcome.js';

const valueOf = (value: unknown): unknown => {
  const plain = plainValue(value, 'The result');
  if (!plain.plain) throw new Error(plain.error.message);
  return plain.value;
};

test('a result is what JSON makes of it', () => {
  expect(valueOf(undefined)).toBeNull();
  expect(valueOf(() => 1)).toBeNull();
  expect(valueOf({ at: new Date(0), gone: undefined, n: Number.NaN })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    n: null,
  });
});

test('what PostgreSQL cannot store in a text is replaced, in values and in names', () => {
  expect(valueOf({ 'a\0b': ['x\0', '\uD800', 'ok\uDC00', '😀', '\u0001'] })).toEqual({
    'a\uFFFDb': ['x\uFFFD', '\uFFFD', 'ok\uFFFD', '😀', '\u0001'],
  });
});

test('a backslash before what looks like an escape is left alone', () => {
  const tricky = ['\\u0000', '\\\\u0000', '\\\0', '\\\\\uD800', '\\ud800 \0'];
  expect(valueOf(tricky)).toEqual(['\\u0000', '\\\\u0000', '\\\uFFFD', '\\\\\uFFFD', '\\ud800 \uFFFD']);
});

test('what JSON cannot carry is told as an error', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const hostile = {
    toJSON: () => {
      throw new Error('no');
    },
  };
  let deep: unknown = null;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  for (const value of [cycle, 1n, hostile, deep]) {
    expect(plainValue(value, 'The result')).toMatchObject({ plain: false, error: { code: 'InvalidTask' } });
  }
});

test('a result beyond the limit is told as an error with its size', () => {
  expect(plainValue('x'.repeat(1_048_577), 'The result')).toEqual({
    plain: false,
    error: { code: 'PayloadTooLarge', message: 'The result is 1048579 bytes of JSON; the limit is 1048576.' },
  });
});

test('an error has its own code, or the name of its class', () => {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  expect(plainError(missing)).toEqual({ code: 'ENOENT', message: 'no such file' });
  expect(plainError(new RangeError('too far'))).toEqual({ code: 'RangeError', message: 'too far' });
});

test('anything may be thrown', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
    },
  );
  expect(plainError('plain text')).toEqual({ code: 'Error', message: 'plain text' });
  expect(plainError(null)).toEqual({ code: 'Error', message: 'null' });
  expect(plainError({ status: 500 })).toEqual({ code: 'Error', message: '{ status: 500 }' });
  expect(plainError(Symbol('s'))).toEqual({ code: 'Error', message: 'Symbol(s)' });
  expect(plainError(hostile).code).toBe('Error');
});

test('messages and codes are cut and made storable', () => {
  const error = Object.assign(new Error(`\0${'m'.repeat(100_000)}`), { code: '\uDC00'.repeat(1_000) });
  const { code, message } = plainError(error);
  expect(message).toHaveLength(8_193);
  expect(message.startsWith('\uFFFDmmm')).toBe(true);
  expect(code).toBe(`${'\uFFFD'.repeat(128)}…`);
});

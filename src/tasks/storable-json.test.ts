import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidTask, PayloadTooLarge } from '../errors.js';
import { maxJsonBytes, storableJson } from './storable-json.js';

const cycle: Record<string, unknown> = { inner: {} };
(cycle['inner'] as Record<string, unknown>)['back'] = cycle;

const refused: [string, unknown, string][] = [
  ['undefined itself', undefined, 'payload is undefined'],
  ['an undefined property', { a: { b: undefined } }, 'payload.a.b is undefined'],
  ['a function', { a: [() => 1] }, 'payload.a[0] is a function'],
  ['a BigInt', { a: 1n }, 'payload.a is a bigint'],
  ['a symbol', { a: Symbol('s') }, 'payload.a is a symbol'],
  ['a property named by a symbol', { [Symbol('s')]: 1 }, 'payload has a property named by a symbol'],
  ['NaN', [Number.NaN], 'payload[0] is NaN'],
  ['Infinity', { n: Number.POSITIVE_INFINITY }, 'payload.n is Infinity'],
  ['a cycle', cycle, 'payload.inner.back is a cycle'],
  ['a Date', { at: new Date(0) }, 'payload.at is an instance of Date'],
  ['a Map', { m: new Map() }, 'payload.m is an instance of Map'],
  ['a Buffer', Buffer.from('x'), 'payload is an instance of Buffer'],
  ['an array with a hole', [1, , 3], 'payload is an array with holes'], // oxlint-disable-line no-sparse-arrays
  ['a toJSON method', { toJSON: () => 1 }, 'payload.toJSON is a function'],
  ['NUL in a text', { s: 'a\0b' }, 'payload.s contains NUL'],
  ['NUL in a property name', { 'a\0b': 1 }, 'A property name in payload contains NUL'],
  ['a lone surrogate', { 'odd name': ['\uD800'] }, 'payload["odd name"][0] contains a lone surrogate'],
];

describe('storableJson', () => {
  it.each(refused)('refuses %s and names the path', (_, value, message) => {
    expect(() => storableJson(value, 'payload')).toThrow(InvalidTask);
    expect(() => storableJson(value, 'payload')).toThrow(message);
  });

  it('gives back exactly what any JSON value was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes(String.raw`\u0000`));
        expect(JSON.parse(storableJson(value, 'payload'))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('takes the same object twice where it is no cycle', () => {
    const twice = { a: 1 };
    expect(storableJson([twice, twice], 'payload')).toBe('[{"a":1},{"a":1}]');
  });

  it('takes objects without a prototype and those of another realm', () => {
    expect(storableJson(Object.assign(Object.create(null) as object, { a: 1 }), 'payload')).toBe('{"a":1}');
  });

  it('refuses a value nested deeper than its limit instead of overflowing the stack', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(() => storableJson(deep, 'payload')).toThrow('nested deeper than 500 levels');
  });

  it('takes 1 MiB of JSON and refuses one byte more with both numbers', () => {
    expect(storableJson('x'.repeat(maxJsonBytes - 2), 'payload')).toHaveLength(maxJsonBytes);
    expect(() => storableJson('x'.repeat(maxJsonBytes - 1), 'payload')).toThrow(PayloadTooLarge);
    expect(() => storableJson('x'.repeat(maxJsonBytes - 1), 'payload')).toThrow(/1048577 bytes.*1048576/);
  });

  it('counts bytes, not characters', () => {
    expect(() => storableJson('é'.repeat(maxJsonBytes / 2), 'payload')).toThrow(PayloadTooLarge);
  });
});

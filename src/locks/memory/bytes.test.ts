import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBytes } from './bytes.js';

const texts = fc.string({ unit: 'grapheme', maxLength: 6 });

test('strings compare as their UTF-8 bytes do', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test.each([
  ['\u{1f600}', '\uffee'],
  ['\ue000', '\u{10000}'],
  ['\ud7ff', '\ue000'],
  ['a', 'aa'],
  ['', 'a'],
  ['\u{1f600}', '\u{1f601}'],
])('%j and %j compare as their UTF-8 bytes do', (a, b) => {
  expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(Math.sign(compareBytes(b, a))).toBe(Buffer.compare(Buffer.from(b), Buffer.from(a)));
});

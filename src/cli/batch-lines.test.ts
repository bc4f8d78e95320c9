import { describe, expect, it } from 'vitest';
import { InvalidTask } from '../errors.js';
import { batchLines } from './batch-lines.js';

async function linesOf(...chunks: (string | Buffer)[]): Promise<[number, string][]> {
  async function* input(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: [number, string][] = [];
  for await (const { number, text } of batchLines(input())) lines.push([number, text]);
  return lines;
}

describe('batchLines', () => {
  it('numbers the lines and passes over blank ones', async () => {
    expect(await linesOf('a\n\n  \r\nb\r\nc')).toEqual([
      [1, 'a'],
      [4, 'b'],
      [5, 'c'],
    ]);
    expect(await linesOf('')).toEqual([]);
    expect(await linesOf('a\n')).toEqual([[1, 'a']]);
  });

  it('puts lines and characters together again that chunks have cut', async () => {
    const bytes = Buffer.from('Zoë\nx');
    const chunks = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await linesOf(...chunks)).toEqual([
      [1, 'Zoë'],
      [2, 'x'],
    ]);
  });

  it('passes over a byte order mark', async () => {
    expect(await linesOf('\ufeffa')).toEqual([[1, 'a']]);
  });

  it('refuses what is not UTF-8, naming the line', async () => {
    await expect(linesOf('a\n', Buffer.from([0xc3, 0x28]))).rejects.toThrow(
      new InvalidTask('Line 2 is not UTF-8.'),
    );
  });
});

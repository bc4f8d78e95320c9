import { InvalidTask } from '../errors.js';

export interface BatchLine {
  /** Counts from 1, empty lines included. */
  number: number;
  text: string;
}

const newline = 0x0a;

/** The lines of a stream of bytes that are not blank. Throws InvalidTask for one that is not UTF-8. */
export async function* batchLines(input: AsyncIterable<Buffer>): AsyncGenerator<BatchLine> {
  let number = 0;
  for await (const bytes of linesOf(input)) {
    number += 1;
    const text = decode(bytes, number).trim();
    if (text !== '') yield { number, text };
  }
}

/** Splits bytes and not text, so that no character is cut in two. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield Buffer.concat([...begun, chunk.subarray(start, end)]);
      begun = [];
      start = end + 1;
    }
    begun.push(chunk.subarray(start));
  }
  yield Buffer.concat(begun);
}

function decode(bytes: Buffer, number: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidTask(`Line ${number} is not UTF-8.`);
  }
}

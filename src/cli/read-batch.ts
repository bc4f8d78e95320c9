import type { Readable } from 'node:stream';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { HandlerDispatchOptions } from '../tasks/dispatch/dispatch-signature.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import { HoldfastError, InvalidTask, PayloadTooLarge } from '../errors.js';
import { prepareTask } from '../tasks/dispatch/prepare-task.js';
import { batchLines } from './batch-lines.js';

export interface BatchTask extends HandlerDispatchOptions {
  task: string;
  payload?: unknown;
}

/** A batch whose every line has been checked, ready to be read as often as needed. */
export interface CheckedBatch {
  count: number;
  /** Its tasks in order, at most `size` at a time, with the number of the first and the last line. */
  chunks(size: number): AsyncGenerator<{ tasks: BatchTask[]; firstLine: number; lastLine: number }>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Checks every line of `file` (`-` is stdin) before any is used, keeping a copy on disk and nothing in memory:
 * a pipe can be read once only, and a file may change meanwhile. Throws InvalidTask or PayloadTooLarge, naming
 * the first bad line.
 */
export async function readBatch(file: string, loaded: LoadedDefinitions): Promise<CheckedBatch> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-batch-'));
  const copy = join(folder, 'lines.jsonl');
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  try {
    let count = 0;
    await pipeline(
      openInput(file),
      async function* (input: AsyncIterable<Buffer>) {
        for await (const { number, text } of batchLines(input)) {
          await checkLine(text, number, loaded);
          count += 1;
          yield `${number}\t${text}\n`;
        }
      },
      createWriteStream(copy),
    );
    return { count, chunks: (size) => chunksOf(copy, size), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw isSystemError(error) ? new InvalidTask(`The batch cannot be read: ${error.message}`) : error;
  }
}

function openInput(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file);
}

async function checkLine(text: string, number: number, loaded: LoadedDefinitions): Promise<void> {
  try {
    const { task, payload, ...options } = parseLine(text);
    await prepareTask(task, payload, options, { loaded, parent: null });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const message = `Line ${number}: ${error.message} Nothing has been dispatched.`;
    throw error instanceof PayloadTooLarge ? new PayloadTooLarge(message) : new InvalidTask(message);
  }
}

function parseLine(text: string): BatchTask {
  const line = parseObject(text);
  if ('task' in line) throw new InvalidTask('The name of the task is called "name", not "task".');
  const { name, ...others } = line;
  if (name === undefined) throw new InvalidTask('There is no "name".');
  return { ...others, task: name as string };
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidTask(`It is not JSON: ${(error as Error).message}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new InvalidTask('It must be an object, such as {"name":"repo.sync","payload":{"repo":7}}.');
}

async function* chunksOf(copy: string, size: number): ReturnType<CheckedBatch['chunks']> {
  let chunk: { tasks: BatchTask[]; firstLine: number; lastLine: number } | null = null;
  for await (const { text } of batchLines(createReadStream(copy) as AsyncIterable<Buffer>)) {
    const tab = text.indexOf('\t');
    const number = Number(text.slice(0, tab));
    chunk ??= { tasks: [], firstLine: number, lastLine: number };
    chunk.tasks.push(parseLine(text.slice(tab + 1)));
    chunk.lastLine = number;
    if (chunk.tasks.length < size) continue;
    yield chunk;
    chunk = null;
  }
  if (chunk !== null) yield chunk;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

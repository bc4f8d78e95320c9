import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineTask } from '../tasks/definition.js';
import { readBatch } from './read-batch.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  file = join(folder, 'batch.jsonl');
  vi.stubEnv('TMPDIR', join(folder));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function refusal(lines: string, loaded = new Map()): Promise<string> {
  await writeFile(file, lines);
  return await readBatch(file, loaded).then(
    () => 'none',
    (error: Error) => error.message,
  );
}

describe('readBatch', () => {
  it('gives the tasks in chunks, with the lines that they come from', async () => {
    await writeFile(file, '{"name":"a","payload":1}\n\n{"name":"b","exclusive":["r"]}\n{"name":"c"}\n');
    await using batch = await readBatch(file, new Map());
    expect(batch.count).toBe(3);
    const chunks = [];
    for await (const chunk of batch.chunks(2)) chunks.push(chunk);
    expect(chunks).toEqual([
      {
        tasks: [
          { task: 'a', payload: 1 },
          { task: 'b', exclusive: ['r'] },
        ],
        firstLine: 1,
        lastLine: 3,
      },
      { tasks: [{ task: 'c' }], firstLine: 4, lastLine: 4 },
    ]);
  });

  it.each([
    ['{"name":"a"}\n{"name":', 'Line 2: It is not JSON: '],
    ['[1]', 'Line 1: It must be an object, '],
    ['{"payload":1}', 'Line 1: There is no "name".'],
    ['{"task":"a"}', 'Line 1: The name of the task is called "name", not "task".'],
    ['{"name":7}', 'Line 1: '],
    ['{"name":""}', 'Line 1: The name of a task must not be empty.'],
    [
      '{"name":"a","exclusiv":["r"]}',
      'Line 1: Task "a": dispatch takes no option "exclusiv". Did you mean "exclusive"?',
    ],
    ['{"name":"a","shared":"r"}', 'Line 1: "shared" must be a list of resource names.'],
    ['{"name":"a","payload":"\\u0000"}', 'Line 1: Task "a": payload contains NUL'],
    ['{"name":"a","runAt":"tomorrow"}', 'Line 1: Task "a": runAt must be a Date or ISO 8601 text'],
  ])('refuses %s', async (lines, message) => {
    expect(await refusal(lines)).toContain(message);
    expect(await refusal(lines)).toMatch(/Nothing has been dispatched\.$/);
  });

  it('checks payloads against the definitions that are loaded', async () => {
    const sync = defineTask({ name: 'sync', payload: z.object({ repo: z.number() }), run: () => {} });
    expect(await refusal('{"name":"sync","payload":{"repo":"x"}}', new Map([['sync', sync]]))).toContain(
      'Line 1: Task "sync": the payload does not fit. repo:',
    );
  });

  it('tells that a file cannot be read', async () => {
    await expect(readBatch(join(folder, 'missing'), new Map())).rejects.toThrow(
      /^The batch cannot be read: /,
    );
  });

  it('leaves no copy behind, whether it was read or refused', async () => {
    await refusal('{');
    await writeFile(file, '{"name":"a"}');
    await (await readBatch(file, new Map()))[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual(['batch.jsonl']);
  });
});

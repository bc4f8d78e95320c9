import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiledFile } from '../entry-point.js';
import { InvalidTask } from '../errors.js';
import { loadTaskFiles } from './load-task-files.js';

/** Task files load the compiled package, as users' do: another copy of it than the one under test. */
const definition = compiledFile(import.meta.url, './definition.js').href;
const head = `import { defineTask } from ${JSON.stringify(definition)};\nconst run = () => null;\n`;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-tasks-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, source: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, source);
  return path;
}

async function names(...paths: string[]): Promise<string[]> {
  return (await loadTaskFiles(paths)).map(({ name }) => name);
}

describe('loadTaskFiles', () => {
  it('collects named exports, the default export and arrays, each definition once', async () => {
    const path = await file(
      'all.mjs',
      `${head}export const a = defineTask({ name: 'a', run });
       export const more = [defineTask({ name: 'b', run }), a];
       export const other = 42;
       export default defineTask({ name: 'c', run });`,
    );
    expect((await names(path)).sort()).toEqual(['a', 'b', 'c']);
  });

  it('reads CommonJS files', async () => {
    const path = await file(
      'common.cjs',
      `const { defineTask } = require(${JSON.stringify(new URL(definition).pathname)});
       module.exports = Object.fromEntries(['d', 'e'].map((name) => [name, defineTask({ name, run() {} })]));`,
    );
    expect(await names(path)).toEqual(['d', 'e']);
  });

  it('takes a folder: its files in order of name, passing over those without a task', async () => {
    await file('2.js', `${head}export const two = defineTask({ name: 'two', run });`);
    await file('1.mjs', `${head}export const one = defineTask({ name: 'one', run });`);
    await file('helper.js', 'export const help = 1;');
    await file('notes.txt', 'not a task');
    await file('package.json', '{"type":"module"}');
    await mkdir(join(folder, 'inner.js'));
    expect(await names(folder)).toEqual(['one', 'two']);
  });

  it('names the file that is missing, broken, empty of tasks or not JavaScript', async () => {
    const broken = await file('broken.mjs', 'export const = 1;');
    const throwing = await file('throwing.mjs', 'throw new Error("no disk");');
    const empty = await file('empty.mjs', 'export const a = 1;');
    const typescript = await file('tasks.ts', 'export {};');
    for (const path of [broken, throwing, empty, typescript, join(folder, 'gone.mjs')]) {
      const loading = loadTaskFiles([path]);
      await expect(loading).rejects.toThrow(InvalidTask);
      await expect(loading).rejects.toThrow(path);
    }
    await expect(loadTaskFiles([throwing])).rejects.toThrow('no disk');
  });

  it('refuses two definitions of one name and names both files', async () => {
    const first = await file('first.mjs', `${head}export default defineTask({ name: 'same', run });`);
    const second = await file('second.mjs', `${head}export default defineTask({ name: 'same', run });`);
    await expect(loadTaskFiles([first, second])).rejects.toThrow(`in ${first} and in ${second}`);
  });

  it('takes a file named twice once, also through its folder', async () => {
    const path = await file('once.mjs', `${head}export default defineTask({ name: 'once', run });`);
    expect(await names(path, folder)).toEqual(['once']);
    await expect(import(pathToFileURL(path).href)).resolves.toBeDefined();
  });
});

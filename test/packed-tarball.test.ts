import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPackage, projectRoot, type InstalledPackage } from './helpers/installed-package.js';

const execute = promisify(execFile);
let installed: InstalledPackage;

beforeAll(() => {
  installed = installPackage({ peers: true });
});

afterAll(() => installed.remove());

/** Runs a program in the folder where the package is installed, and resolves with its stdout. */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { cwd: installed.dir, env: installed.env });
  return stdout;
}

test('it holds what was built with its Lua and SQL files, and no tests', () => {
  const { files } = installed;
  const owned = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' });
  const copied = owned.filter((path) => /\.(lua|sql)$/.test(path));
  expect(copied.length).toBeGreaterThan(0);
  expect(files).toEqual(expect.arrayContaining(copied.map((path) => `dist/${path}`)));
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'dist/index.d.ts']));
  expect(files.filter((path) => /\.(test|conformance|property)\./.test(path))).toEqual([]);
});

test('import and require give the same public names', async () => {
  const names = 'console.log(JSON.stringify(Object.keys(holdfast).sort()))';
  const imported = await run(
    'node',
    '--input-type=module',
    '-e',
    `import * as holdfast from 'holdfast'; ${names}`,
  );
  const required = await run('node', '--no-warnings', '-e', `const holdfast = require('holdfast'); ${names}`);
  expect(JSON.parse(imported)).toEqual(
    expect.arrayContaining(['createHoldfast', 'defineTask', 'HoldfastError']),
  );
  expect(without(JSON.parse(required) as string[])).toEqual(JSON.parse(imported));
});

/** Node adds this name to what require gives for some modules. */
function without(names: string[]): string[] {
  return names.filter((name) => name !== '__esModule' && name !== 'module.exports');
}

test('importing it opens nothing that keeps a process alive, and asks for no optional package', async () => {
  const script = `await import('holdfast'); console.log(process.getActiveResourcesInfo().filter((name) =>
    !/TTY|Pipe|CloseReq/.test(name)).join())`;
  expect((await run('node', '--input-type=module', '-e', script)).trim()).toBe('');
});

test('the command tells its usage and its version', async () => {
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
  expect(await run('holdfast', '--help')).toMatch(/demo[^]*migrate[^]*worker[^]*dispatch/);
  expect((await run('holdfast', '--version')).trim()).toBe(manifest.version);
});

test('its types serve a user under strict settings', async () => {
  const source = `import { createHoldfast, defineTask, HoldfastError } from 'holdfast';
    const sync = defineTask({
      name: 'repo.sync',
      resources: (payload: { repo: number }) => ({ exclusive: [\`repo:\${payload.repo}\`] }),
      run: async (payload: { repo: number }) => ({ files: payload.repo }),
    });
    export async function use(): Promise<number> {
      const holdfast = await createHoldfast({ embedded: true, tasks: [sync] });
      await holdfast.dispatch(sync, { repo: 7 });
      // @ts-expect-error: the payload has another type
      await holdfast.dispatch(sync, { repo: 'seven' });
      await holdfast.close();
      return new HoldfastError('NotFound', 'x').message.length;
    }`;
  writeFileSync(join(installed.dir, 'use.ts'), source);
  const options = [
    '--strict',
    '--noEmit',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--skipLibCheck',
    'false',
  ];
  const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, tsc, ...options, '--types', '', 'use.ts');
});

test('the demo with its crashes runs where it is installed, tells people so, and leaves no file behind', async () => {
  const folder = join(installed.dir, 'tmp');
  mkdirSync(folder);
  const env = { ...installed.env, TMPDIR: folder };
  const { stdout, stderr } = await execute('holdfast', ['demo', '--crash'], { cwd: installed.dir, env });
  expect(stdout).toMatch(/^verified +every manifest matches its files, every blob its hash$/m);
  expect(stdout).toMatch(/The demo is ok\.\n$/);
  expect(stderr).toMatch(
    /^Mirroring \d+ packages embedded, with no server of any kind: one worker, 3 slots\.$/m,
  );
  expect(stderr).toMatch(/^Killed the whole process, which held \d+ locks?\. Starting it again\.$/m);
  expect(stdout).toMatch(/^tasks +(\d+) of \1 completed, [1-9]\d* left by an earlier run$/m);
  for (const lost of ['a child process, killed', 'the whole process, killed', 'an orphan: an owner']) {
    expect(stdout).toMatch(new RegExp(`^${lost}.* [1-9]\\d* +[\\d.]+m?s$`, 'm'));
  }
  expect(stderr).toMatch(/holdfast demo --data-dir/);
  expect(readdirSync(folder)).toEqual([]);
}, 300_000);

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fillPgliteFolder } from '../helpers/pglite-folder.js';
import { waitUntil } from '../helpers/wait-until.js';
import { holdfast, holdfastJson, startHoldfast, taskFile } from './run-holdfast.js';

// Each of these tests starts several processes.
vi.setConfig({ testTimeout: 180_000 });

let folder: string;
let place: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const data = join(folder, 'data');
  await fillPgliteFolder(join(data, 'pg'));
  place = ['--embedded', '--data-dir', data];
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

it('embedded, a task waits in the data folder until a worker comes, and one process has it at a time', async () => {
  const touched = join(folder, 'touched');
  const touch = ['dispatch', 'test.touch', '--payload', JSON.stringify({ file: touched })];
  const { id } = (await holdfastJson([...touch, ...place])) as { id: string };

  const worker = startHoldfast(['worker', '--tasks', taskFile, '--name', 'inside', ...place]);
  await waitUntil(
    () => worker.stdout.includes('"ready":true') || worker.child.exitCode !== null,
    'the worker',
    60_000,
  );
  const second = await holdfast(['tasks', 'list', ...place]);
  expect(second).toMatchObject({ status: 1, stdout: '' });
  expect(second.stderr).toMatch(
    new RegExp(`^DataDirLocked: Process ${worker.child.pid} has the data folder`),
  );
  await waitUntil(() => existsSync(touched), 'the task to run');
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ status: 0 });
  expect(await holdfastJson(['tasks', 'show', id, ...place])).toMatchObject({ state: 'completed' });
});

it('embedded, a task that is waited for runs in the process that waits', async () => {
  const add = ['dispatch', 'test.add', '--payload', '{"a":1,"b":2}', '--wait'];
  expect(await holdfastJson([...add, '--tasks', taskFile, ...place])).toMatchObject({ result: { sum: 3 } });
  const nobody = await holdfast([...add, ...place]);
  expect(nobody).toMatchObject({ status: 2, stdout: '' });
  expect(nobody.stderr).toContain('InvalidTask: ');
});

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { cleanupLocksForWorker } from './cleanup-locks-for-worker.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

it('frees what a worker left that is past its TTL, and nothing else', async () => {
  await test.process('gone', { silent: '31s' });
  await test.process('other');
  await test.takes('other', { task: 't2', exclusive: ['b'] });
  const before = await test.everything();
  const locks = await test.takes('gone', { task: 't1', exclusive: ['a'] });
  const cleanup = await cleanupLocksForWorker(await test.open(), 'gone');
  expect(cleanup).toMatchObject({ done: true, spared: false, liveness: 'late' });
  expect(cleanup.released.sort()).toEqual(locks.sort());
  expect(await test.everything()).toEqual(before);
});

it('frees nothing by a name that a live process has too', async () => {
  await test.process('twin', { silent: '23h' });
  await test.process('twin', { silent: '29s' });
  await test.takes('twin', { task: 't1', exclusive: ['a'] });
  const before = await test.everything();
  expect(await cleanupLocksForWorker(await test.open(), 'twin')).toMatchObject({
    ...{ spared: true, liveness: 'live', released: [], done: false, retry: true },
  });
  expect(await test.everything()).toEqual(before);
});

it('frees nothing where it cannot learn who is alive, and says to retry', async () => {
  await test.process('gone', { silent: '1h' });
  await test.takes('gone', { task: 't1' });
  const before = await test.everything();
  const pulp = await test.open();
  await pulp.database.close();
  expect(await cleanupLocksForWorker(pulp, 'gone')).toMatchObject({ done: false, retry: true, released: [] });
  expect(await test.everything()).toEqual(before);
});

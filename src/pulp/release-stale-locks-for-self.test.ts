import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { releaseStaleLocksForSelf } from './release-stale-locks-for-self.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

it('frees at the start what an earlier process of the name has left', async () => {
  await test.process('1@pod', { silent: '31s' });
  const id = await test.process('1@pod', { silent: '0s' });
  await test.takes('other', { shared: ['s'] });
  const before = await test.everything();
  const locks = await test.takes('1@pod', { task: 't1', exclusive: ['a'], shared: ['s'] });
  const cleanup = await releaseStaleLocksForSelf(await test.open(), { name: '1@pod', id });
  expect(cleanup).toMatchObject({ done: true, spared: false });
  expect(cleanup.released.sort()).toEqual(locks.sort());
  expect(await test.everything()).toEqual(before);
});

it('scans for a name that was there before', async () => {
  await test.process('1@pod', { silent: '1h' });
  await test.takesUnregistered('1@pod', { exclusive: ['a'] });
  const cleanup = await releaseStaleLocksForSelf(await test.open(), { name: '1@pod' }, true);
  expect(cleanup).toMatchObject({ done: true, released: ['pulp:resource_lock:a'] });
});

it('skips the scan for a name that nobody has had, though it is allowed', async () => {
  const id = await test.process('new');
  await test.takesUnregistered('old', { exclusive: ['a'] });
  const pulp = await test.open();
  await test.resetCommands();
  const cleanup = await releaseStaleLocksForSelf(pulp, { name: 'new', id }, true);
  expect(cleanup).toMatchObject({ done: true, retry: false, released: [] });
  expect(Object.keys(await test.commands())).not.toEqual(expect.arrayContaining(['scan']));
  expect(await test.redis.keys('*')).toEqual(['pulp:resource_lock:a']);
});

it('spares a live namesake', async () => {
  await test.process('twin', { silent: '29s' });
  const id = await test.process('twin', { silent: '0s' });
  await test.takes('twin', { task: 't1', exclusive: ['a'] });
  const before = await test.everything();
  const cleanup = await releaseStaleLocksForSelf(await test.open(), { name: 'twin', id }, true);
  expect(cleanup).toMatchObject({ spared: true, released: [], done: false });
  expect(await test.everything()).toEqual(before);
});

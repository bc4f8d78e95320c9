import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import type { PulpRows } from './pulp-database.js';
import { reconcileOrphanLocks } from './reconcile-orphan-locks.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

it('frees an orphan, and spares whoever has a row, live or late', async () => {
  await test.process('live');
  await test.process('late', { silent: '23h' });
  await test.takes('live', { task: 't1', shared: ['s'] });
  await test.takes('late', { task: 't2', shared: ['s'] });
  const before = await test.everything();
  const locks = await test.takes('orphan', { task: 't3', exclusive: ['a'], shared: ['s'] });
  const { owners, spared } = await reconcileOrphanLocks(await test.open());
  expect(owners).toEqual([expect.objectContaining({ owner: 'orphan', done: true, unlisted: true })]);
  expect(owners[0]?.released.sort()).toEqual(locks.sort());
  expect(spared).toEqual([{ owner: 'late', liveness: 'missing' }]);
  expect(await test.everything()).toEqual(before);
});

it('goes on with the others where one fails', async () => {
  await test.takes('a', { task: 't1' });
  await test.redis.sadd('pulp:active_owners', 'b');
  await test.redis.set('pulp:owner_locks:b', 'no set');
  await test.takes('c', { exclusive: ['c'] });
  const { owners } = await reconcileOrphanLocks(await test.open());
  expect(owners.map(({ owner, done, retry }) => ({ owner, done, retry }))).toEqual([
    { owner: 'a', done: true, retry: false },
    { owner: 'b', done: false, retry: true },
    { owner: 'c', done: true, retry: false },
  ]);
  expect(await test.everything()).toEqual({ 'pulp:active_owners': ['b'], 'pulp:owner_locks:b': 'no set' });
});

it('frees locks in no registry by one scan for all owners, and only where that is allowed', async () => {
  await test.process('live');
  await test.takesUnregistered('live', { exclusive: ['l'] });
  await test.redis.set('task:foreign', 'hello');
  const before = await test.everything();
  await test.takesUnregistered('old-1', { task: 't1', exclusive: ['a'], shared: ['s'] });
  await test.takesUnregistered('old-2', { exclusive: ['b'], shared: ['s'] });
  const pulp = await test.open();
  expect((await reconcileOrphanLocks(pulp)).owners).toEqual([]);
  await test.resetCommands();
  const { owners, foreign, scan } = await reconcileOrphanLocks(pulp, true);
  expect(owners.map(({ owner, done, released }) => [owner, done, released.length])).toEqual([
    ['old-1', true, 3],
    ['old-2', true, 2],
  ]);
  expect(foreign).toEqual(['task:foreign']);
  expect(scan?.state).toBe('done');
  expect(await test.commands()).toMatchObject({ scan: 1 });
  await test.redis.del('pulp:last_legacy_owner_scan');
  expect(await test.everything()).toEqual(before);
});

it('spares an owner that came back after the owners were collected', async () => {
  await test.takes('back', { task: 't1' });
  const before = await test.everything();
  const pulp = await test.open();
  const { database } = pulp;
  let reads = 0;
  const returning: PulpRows = {
    ...{ known: true, tasks: (ids) => database.tasks(ids), close: () => database.close() },
    processes: async (name) => {
      reads += 1;
      const rows = await database.processes(name);
      if (reads === 1) await test.process('back');
      return rows;
    },
  };
  const { owners } = await reconcileOrphanLocks({ ...pulp, database: returning });
  expect(owners).toEqual([
    expect.objectContaining({ owner: 'back', spared: true, liveness: 'live', released: [] }),
  ]);
  expect(await test.everything()).toEqual(before);
});

it('does nothing where it cannot learn who is alive', async () => {
  await test.takes('orphan', { task: 't1' });
  const before = await test.everything();
  const pulp = await test.open();
  await pulp.database.close();
  await expect(reconcileOrphanLocks(pulp)).rejects.toThrow();
  expect(await test.everything()).toEqual(before);
});

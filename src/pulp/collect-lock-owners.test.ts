import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { collectLockOwners } from './collect-lock-owners.js';
import { LegacyScan } from './legacy-scan.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

it('collects the listed owners without a scan', async () => {
  await test.takes('b', { task: 't1' });
  await test.takes('a', { shared: ['s'] });
  await test.takesUnregistered('old', { exclusive: ['x'] });
  const pulp = await test.open();
  await test.resetCommands();
  expect(await collectLockOwners(pulp)).toEqual({ owners: ['a', 'b'], foreign: [] });
  expect(Object.keys(await test.commands())).not.toEqual(expect.arrayContaining(['scan']));
});

it('collects with a scan those as well that are in no list', async () => {
  await test.takes('a', { shared: ['s'] });
  await test.takesUnregistered('exclusive', { exclusive: ['x'] });
  await test.takesUnregistered('reader-1', { shared: ['y'] });
  await test.takesUnregistered('reader-2', { shared: ['y'] });
  const pulp = await test.open();
  expect(await collectLockOwners(pulp, new LegacyScan(pulp, () => true))).toEqual({
    owners: ['a', 'exclusive', 'reader-1', 'reader-2'],
    foreign: [],
  });
});

it('takes a text under task: for a lock only of a task that exists, or of who is an owner otherwise', async () => {
  await test.takesUnregistered('holds-a-task', { task: await test.task('running', null) });
  await test.takesUnregistered('holds-a-resource', { task: 'x', exclusive: ['x'] });
  await test.process('was-a-process', { silent: '1h' });
  await test.takesUnregistered('was-a-process', { task: 'y' });
  const id = randomUUID();
  await test.redis.mset('task:1', 'hello', `task:${id}`, '{"status":"SUCCESS"}');
  // Too long to be a name, and not even read.
  await test.redis.set('task:long', 'x'.repeat(2_000));
  const pulp = await test.open();
  const { owners, foreign } = await collectLockOwners(pulp, new LegacyScan(pulp, () => true));
  expect(owners).toEqual(['holds-a-resource', 'holds-a-task', 'was-a-process']);
  expect(foreign.sort()).toEqual(['task:1', `task:${id}`].sort());
});

it('collects the listed ones alone where a scan is allowed, but throttled', async () => {
  await test.takes('a', { task: 't1' });
  await test.takesUnregistered('old', { exclusive: ['x'] });
  await test.redis.set('pulp:last_legacy_owner_scan', '1', 'EX', 60);
  const pulp = await test.open();
  const scan = new LegacyScan(pulp, () => true);
  expect(await collectLockOwners(pulp, scan)).toEqual({ owners: ['a'], foreign: [] });
  expect(scan.state).toBe('throttled');
});

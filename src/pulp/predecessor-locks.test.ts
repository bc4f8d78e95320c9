import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { findPredecessorLocks } from './predecessor-locks.js';
import { releasePredecessorLocks } from './release-predecessor-locks.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

const name = '1@pod';
const lockOf = (resource: string): string => `pulp:resource_lock:${resource}`;

/** A worker was killed, and came back under its name within its TTL. */
async function restarted(): Promise<{ before: string; now: string }> {
  return { before: await test.process(name, { silent: '9s' }), now: await test.process(name) };
}

describe('what a predecessor left', () => {
  it('is told by the row that its task names, with all that the task reserved', async () => {
    const { before, now } = await restarted();
    const left = await test.task('running', before, ['a', 'shared:s']);
    const own = await test.task('running', now, ['b']);
    await test.takes(name, { task: left, exclusive: ['a'], shared: ['s'] });
    await test.takes(name, { task: own, exclusive: ['b'] });
    const why = { task: left, state: 'running', process: before, why: 'predecessor' };
    expect(await findPredecessorLocks(await test.open('look'), name)).toEqual([
      { key: lockOf('a'), ...why },
      { key: lockOf('s'), ...why },
      { key: `task:${left}`, ...why },
    ]);
  });

  it('is told after its row has gone, too', async () => {
    const { before } = await restarted();
    const left = await test.task('canceling', before, ['a']);
    await test.takes(name, { task: left, exclusive: ['a'] });
    await test.client.query('DELETE FROM core_appstatus WHERE pulp_id = $1', [before]);
    const found = await findPredecessorLocks(await test.open('look'), name);
    expect(found.map(({ key, process, why }) => [key, process, why])).toEqual([
      [lockOf('a'), null, 'predecessor'],
      [`task:${left}`, null, 'predecessor'],
    ]);
  });

  it('is not what the present process is just about to start, nor what both need', async () => {
    const { before, now } = await restarted();
    const left = await test.task('running', before, ['shared:s', 'shared:t']);
    const own = await test.task('running', now, ['shared:s']);
    const next = await test.task('waiting', null, ['shared:t', 'n']);
    await test.takes(name, { task: left, shared: ['s', 't'] });
    await test.takes(name, { task: own, shared: ['s'] });
    await test.takes(name, { task: next, exclusive: ['n'], shared: ['t'] });
    const found = await findPredecessorLocks(await test.open('look'), name);
    expect(found.map(({ key }) => key)).toEqual([`task:${left}`]);
  });

  it('is not what others hold by now', async () => {
    const { before } = await restarted();
    const left = await test.task('running', before, ['a']);
    await test.takes(name, { task: left, exclusive: ['a'] });
    await test.redis.set(lockOf('a'), 'other');
    const found = await findPredecessorLocks(await test.open('look'), name);
    expect(found.map(({ key }) => key)).toEqual([`task:${left}`]);
  });

  it('may be locks of a task that is over', async () => {
    const { now } = await restarted();
    const over = await test.task('completed', null, ['a']);
    await test.takes(name, { task: over, exclusive: ['a'] });
    await test.takes(name, { task: await test.task('running', now, ['b']), exclusive: ['b'] });
    const found = await findPredecessorLocks(await test.open('look'), name);
    expect(found.map(({ key, why }) => [key, why])).toEqual([
      [lockOf('a'), 'over'],
      [`task:${over}`, 'over'],
    ]);
  });
});

describe('releasing it', () => {
  it('takes the locks that are named and no other, and keeps the owner listed and its other readers', async () => {
    const { before, now } = await restarted();
    const left = await test.task('running', before, ['a', 'b', 'shared:s']);
    const own = await test.task('running', now, ['c']);
    await test.takes(name, { task: own, exclusive: ['c'] });
    await test.takes('reader', { shared: ['s'] });
    await test.takes(name, { task: left, exclusive: ['a', 'b'], shared: ['s'] });
    const cleanup = await releasePredecessorLocks(await test.open(), name, [lockOf('a'), lockOf('s')]);
    expect(cleanup).toMatchObject({
      ...{ liveness: 'live', released: [lockOf('a'), lockOf('s')], refused: [], done: true },
    });
    expect(await test.everything()).toEqual({
      'pulp:active_owners': [name, 'reader'],
      [`pulp:owner_locks:${name}`]: [lockOf('b'), lockOf('c'), `task:${left}`, `task:${own}`].sort(),
      'pulp:owner_locks:reader': [lockOf('s')],
      [lockOf('b')]: name,
      [lockOf('c')]: name,
      [lockOf('s')]: ['reader'],
      [`task:${left}`]: name,
      [`task:${own}`]: name,
    });
  });

  it('keeps the owner listed after its last lock', async () => {
    const { before } = await restarted();
    const [lock = ''] = await test.takes(name, { task: await test.task('running', before) });
    await releasePredecessorLocks(await test.open(), name, [lock]);
    expect(await test.everything()).toEqual({ 'pulp:active_owners': [name] });
  });

  it("refuses what is named and is not a predecessor's", async () => {
    const { now } = await restarted();
    const own = await test.task('running', now, ['a']);
    await test.takes(name, { task: own, exclusive: ['a'] });
    const everything = await test.everything();
    const named = [lockOf('a'), `task:${own}`, 'pulp:active_owners'];
    expect(await releasePredecessorLocks(await test.open(), name, named)).toMatchObject({
      ...{ released: [], refused: named, done: false },
    });
    expect(await test.everything()).toEqual(everything);
  });

  it('only looks where it is to', async () => {
    const { before } = await restarted();
    const [lock = ''] = await test.takes(name, { task: await test.task('running', before) });
    const everything = await test.everything();
    expect((await releasePredecessorLocks(await test.open('look'), name, [lock])).released).toEqual([lock]);
    expect(await test.everything()).toEqual(everything);
  });
});

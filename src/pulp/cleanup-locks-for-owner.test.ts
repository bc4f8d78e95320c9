import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestPulp } from '../../test/pulp/test-pulp.js';
import { cleanupLocksForOwner } from './cleanup-locks-for-owner.js';
import { LegacyScan } from './legacy-scan.js';
import type { Pulp } from './open-pulp.js';
import { dropOwner } from './scripts.js';

let test: TestPulp;
beforeAll(async () => {
  test = await TestPulp.start();
});
afterEach(() => test.empty());
afterAll(() => test.stop());

const scanFor = (pulp: Pulp, name: string): LegacyScan => new LegacyScan(pulp, (owner) => owner === name);

describe('with a registry', () => {
  it('touches only its owner', async () => {
    await test.takes('other', { task: 't2', exclusive: ['b'], shared: ['s'] });
    const before = await test.everything();
    const locks = await test.takes('dead', { task: 't1', exclusive: ['a'], shared: ['s', 'u'] });
    const cleanup = await cleanupLocksForOwner(await test.open(), 'dead');
    expect(cleanup).toMatchObject({ done: true, retry: false, error: null, unlisted: true });
    expect(cleanup.released.sort()).toEqual(locks.sort());
    expect(await test.everything()).toEqual(before);
  });

  it('leaves a shared lock to its other owners', async () => {
    await test.takes('dead', { shared: ['s'] });
    await test.takes('reader', { shared: ['s'] });
    await cleanupLocksForOwner(await test.open(), 'dead');
    expect(await test.redis.smembers('pulp:resource_lock:s')).toEqual(['reader']);
  });

  it('leaves what another has taken meanwhile, and drops the entry', async () => {
    await test.takes('dead', { task: 't1', exclusive: ['a', 'b', 'c'], shared: ['s'] });
    await test.redis.set('pulp:resource_lock:a', 'next');
    await test.redis.del('pulp:resource_lock:b', 'pulp:resource_lock:s');
    await test.redis.sadd('pulp:resource_lock:s', 'next');
    const cleanup = await cleanupLocksForOwner(await test.open(), 'dead');
    expect(cleanup).toMatchObject({
      released: expect.toSatisfy((keys: string[]) => keys.length === 2) as unknown,
      gone: ['pulp:resource_lock:b'],
      done: true,
    });
    expect(cleanup.retaken.sort()).toEqual(['pulp:resource_lock:a', 'pulp:resource_lock:s']);
    expect(await test.everything()).toEqual({
      'pulp:resource_lock:a': 'next',
      'pulp:resource_lock:s': ['next'],
    });
  });

  it('leaves and names entries that are no locks, and keeps the owner listed until they are gone', async () => {
    await test.takes('dead', { exclusive: ['a'] });
    await test.redis.hset('pulp:resource_lock:h', 'dead', '1');
    await test.redis.sadd('task:set', 'dead');
    await test.redis.set('session:1', 'dead');
    const alien = ['pulp:resource_lock:h', 'task:set', 'session:1', 'pulp:active_owners'];
    await test.redis.sadd('pulp:owner_locks:dead', ...alien);
    const cleanup = await cleanupLocksForOwner(await test.open(), 'dead');
    expect(cleanup).toMatchObject({
      ...{ released: ['pulp:resource_lock:a'], unlisted: false, done: false, retry: false, error: null },
    });
    expect(cleanup.unexpected.sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual([
      { key: 'pulp:active_owners', type: 'set' },
      { key: 'pulp:resource_lock:h', type: 'hash' },
      { key: 'session:1', type: 'string' },
      { key: 'task:set', type: 'set' },
    ]);
    expect(await test.everything()).toEqual({
      'pulp:active_owners': ['dead'],
      'pulp:owner_locks:dead': alien.sort(),
      'pulp:resource_lock:h': 'hash',
      'session:1': 'dead',
      'task:set': ['dead'],
    });
    await test.redis.srem('pulp:owner_locks:dead', ...alien);
    expect(await cleanupLocksForOwner(await test.open(), 'dead')).toMatchObject({
      done: true,
      unlisted: true,
    });
    expect(await test.redis.exists('pulp:active_owners')).toBe(0);
  });

  it('keeps an owner listed that takes a lock before it is unlisted', async () => {
    await test.takes('back', { task: 't1' });
    const pulp = await test.open();
    expect(await pulp.redis.run(dropOwner('back', 'release'))).toBe(false);
    expect(await test.redis.smembers('pulp:active_owners')).toEqual(['back']);
  });

  it('never scans, whatever is allowed', async () => {
    await test.takes('dead', { task: 't1' });
    await test.takesUnregistered('dead', { exclusive: ['old'] });
    const pulp = await test.open();
    await test.resetCommands();
    await cleanupLocksForOwner(pulp, 'dead', scanFor(pulp, 'dead'));
    expect(Object.keys(await test.commands())).not.toEqual(expect.arrayContaining(['scan']));
    expect(await test.redis.keys('*')).toEqual(['pulp:resource_lock:old']);
  });

  it('releases the last of 20,000 locks, in calls of 250 at most', async () => {
    const resources = Array.from({ length: 20_000 }, (_, at) => `r${at}`);
    await test.takes('dead', { exclusive: resources.slice(0, 10_000), shared: resources.slice(10_000) });
    const pulp = await test.open();
    await test.resetCommands();
    const cleanup = await cleanupLocksForOwner(pulp, 'dead');
    expect((await test.commands())['evalsha']).toBeGreaterThanOrEqual(80);
    expect(cleanup.released).toHaveLength(20_000);
    expect(await test.everything()).toEqual({});
  }, 30_000);

  it('looks without changing anything, and says the same', async () => {
    await test.takes('dead', { task: 't1', exclusive: ['a', 'b'], shared: ['s'] });
    await test.redis.set('pulp:resource_lock:a', 'next');
    const before = await test.everything();
    const looked = await cleanupLocksForOwner(await test.open('look'), 'dead');
    expect(await test.everything()).toEqual(before);
    expect(await cleanupLocksForOwner(await test.open(), 'dead')).toEqual(looked);
  });
});

describe('without a registry', () => {
  it('does nothing without permission, but for the stale marker', async () => {
    await test.takesUnregistered('dead', { task: 't1', exclusive: ['a'] });
    const before = await test.everything();
    await test.redis.sadd('pulp:active_owners', 'dead');
    const pulp = await test.open();
    await test.resetCommands();
    expect(await cleanupLocksForOwner(pulp, 'dead')).toMatchObject({
      ...{ released: [], unlisted: true, done: true, retry: false },
    });
    expect(Object.keys(await test.commands())).not.toEqual(expect.arrayContaining(['scan']));
    expect(await test.everything()).toEqual(before);
  });

  it('finds its locks by an allowed scan, and touches no other key', async () => {
    await test.takesUnregistered('other', { task: 't2', exclusive: ['b'], shared: ['s'] });
    await test.takes('third', { task: 't3' });
    await test.redis.hset('task:hash', 'owner', 'dead');
    await test.redis.lpush('task:list', 'dead');
    await test.redis.zadd('task:zset', 1, 'dead');
    await test.redis.xadd('task:stream', '*', 'owner', 'dead');
    await test.redis.sadd('task:set', 'dead');
    await test.redis.set('task:text', 'hello');
    await test.redis.hset('pulp:resource_lock:hash', 'dead', '1');
    await test.redis.set('pulp:other', 'dead');
    const before = await test.everything();
    const locks = await test.takesUnregistered('dead', { task: 't1', exclusive: ['a'], shared: ['s', 'u'] });
    const pulp = await test.open();
    const cleanup = await cleanupLocksForOwner(pulp, 'dead', scanFor(pulp, 'dead'));
    expect(cleanup).toMatchObject({ done: true, retry: false, error: null, unexpected: [] });
    expect(cleanup.released.sort()).toEqual(locks.sort());
    const { 'pulp:last_legacy_owner_scan': mark, ...after } = await test.everything();
    expect(after).toEqual(before);
    expect(mark).toMatch(/^\d{10}$/);
    expect(await test.redis.ttl('pulp:last_legacy_owner_scan')).toBeGreaterThan(880);
  });

  it('scans once per 15 minutes in the whole fleet, and says to retry where it may not', async () => {
    await test.takesUnregistered('dead', { task: 't1' });
    await test.redis.sadd('pulp:active_owners', 'dead');
    const first = await test.open();
    const second = await test.open();
    await new LegacyScan(first, () => false).owners();
    const before = await test.everything();
    const scan = scanFor(second, 'dead');
    expect(await cleanupLocksForOwner(second, 'dead', scan)).toMatchObject({
      ...{ released: [], unlisted: false, done: false, retry: true, error: null },
    });
    expect(scan.state).toBe('throttled');
    expect(scan.pauseMs).toBeGreaterThan(880_000);
    expect(await test.everything()).toEqual(before);
    await test.redis.del('pulp:last_legacy_owner_scan');
    expect(await cleanupLocksForOwner(second, 'dead', scanFor(second, 'dead'))).toMatchObject({
      released: ['task:t1'],
      done: true,
    });
  });

  it('looks by a scan without leaving a mark, and heeds the mark of others', async () => {
    await test.takesUnregistered('dead', { task: 't1' });
    const before = await test.everything();
    const pulp = await test.open('look');
    expect((await cleanupLocksForOwner(pulp, 'dead', scanFor(pulp, 'dead'))).released).toEqual(['task:t1']);
    expect(await test.everything()).toEqual(before);
    await test.redis.set('pulp:last_legacy_owner_scan', '1');
    expect(await cleanupLocksForOwner(pulp, 'dead', scanFor(pulp, 'dead'))).toMatchObject({
      released: [],
      retry: true,
    });
  });
});

describe('when something fails', () => {
  it('says false and to retry where the registry is of another type', async () => {
    await test.redis.set('pulp:owner_locks:dead', 'x');
    const cleanup = await cleanupLocksForOwner(await test.open(), 'dead');
    expect(cleanup).toMatchObject({ done: false, retry: true, unlisted: false });
    expect(cleanup.error).toMatch(/pulp:owner_locks:dead .*unexpected type/);
  });

  it('says false and to retry where the server refuses to write, and can be run again', async () => {
    await test.takes('dead', { task: 't1', exclusive: ['a'] });
    const before = await test.everything();
    const pulp = await test.open();
    await test.redis.call('ACL', 'SETUSER', 'default', '-del');
    try {
      const cleanup = await cleanupLocksForOwner(pulp, 'dead');
      expect(cleanup).toMatchObject({ done: false, retry: true, unlisted: false, released: [] });
      expect(cleanup.error).toMatch(/release-locks/);
      expect(await test.everything()).toEqual(before);
    } finally {
      await test.redis.call('ACL', 'SETUSER', 'default', '+del');
    }
    expect(await cleanupLocksForOwner(pulp, 'dead')).toMatchObject({ done: true, retry: false });
    expect(await test.everything()).toEqual({});
  });

  it('finds the rest after a run that was cut short between a lock and its entry', async () => {
    await test.takes('dead', { task: 't1', exclusive: ['a'], shared: ['s'] });
    await test.takes('reader', { shared: ['s'] });
    const pulp = await test.open();
    await test.redis.call('ACL', 'SETUSER', 'default', '-srem');
    try {
      expect(await cleanupLocksForOwner(pulp, 'dead')).toMatchObject({ done: false, retry: true });
      expect(await test.redis.scard('pulp:owner_locks:dead')).toBe(3);
    } finally {
      await test.redis.call('ACL', 'SETUSER', 'default', '+srem');
    }
    const cleanup = await cleanupLocksForOwner(pulp, 'dead');
    expect(cleanup).toMatchObject({ done: true, retry: false, unlisted: true });
    expect(await test.everything()).toEqual({
      'pulp:active_owners': ['reader'],
      'pulp:owner_locks:reader': ['pulp:resource_lock:s'],
      'pulp:resource_lock:s': ['reader'],
    });
  });

  it('says false and to retry where Redis is away', async () => {
    await test.takes('dead', { task: 't1' });
    const pulp = await test.open();
    await pulp.close();
    expect(await cleanupLocksForOwner(pulp, 'dead')).toMatchObject({ done: false, retry: true });
  });
});

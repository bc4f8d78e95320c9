import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Owner } from '../owner.js';
import type { Place } from '../../test/worker/place.js';
import {
  DeathScene,
  dispatchJobs,
  listedOwners,
  registerOwner,
  runningJobs,
} from '../../test/worker/dead-worker.js';
import { overriding } from '../../test/worker/overriding.js';
import { Unavailable } from '../errors.js';
import { type OrphanSightings, reconcileOrphanLocks } from './reconcile-orphan-locks.js';

let scene: DeathScene;
let place: Place;
let dead: Owner;
let sightings: OrphanSightings;
let now: number;

/** What the workers of these tests have, in milliseconds. */
const ttlMs = 15_000;

beforeEach(async () => {
  scene = await DeathScene.open();
  ({ place, dead } = scene);
  sightings = new Map();
  now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await place.close();
});

async function deleteRow({ incarnation }: Owner): Promise<void> {
  await place.database.query(`DELETE FROM "${place.namespace}".workers WHERE incarnation = $1`, [
    incarnation,
  ]);
}

async function passAfter(ms: number, from: Partial<Place> = {}): Promise<Owner[]> {
  now += ms;
  return reconcileOrphanLocks({ ...place, ...from }, sightings);
}

test('an owner without a row is freed once it has been seen so for a TTL, and not before', async () => {
  const [task] = await runningJobs(place, dead, {});
  await deleteRow(dead);
  expect(await passAfter(0)).toEqual([]);
  expect(await passAfter(ttlMs - 1)).toEqual([]);
  expect(await scene.row(task?.id)).toMatchObject({ state: 'running' });
  expect(await scene.hold(task?.id)).toMatchObject({ owner: dead });
  expect(await passAfter(1)).toEqual([dead]);
  expect(await scene.row(task?.id)).toMatchObject({ state: 'failed', error: { code: 'WorkerLost' } });
  await scene.expectClean();
  await scene.expectNothingLeft();
});

test('the TTL is the longest that anybody had: nobody knows any more which was that of the orphan', async () => {
  const slow = await registerOwner(place, { name: 'slow', ttlMs: 60_000 });
  await deleteRow(slow);
  await passAfter(0);
  expect(await passAfter(59_999)).toEqual([]);
  expect(await passAfter(1)).toEqual([slow]);
});

test('one whose beats are late, or that was reaped, is no orphan', async () => {
  await runningJobs(place, dead, {});
  await passAfter(0);
  expect(await passAfter(100 * ttlMs)).toEqual([]);
  await place.store.reapWorker(dead.incarnation);
  await passAfter(0);
  expect(await passAfter(100 * ttlMs)).toEqual([]);
  expect(sightings.size).toBe(0);
});

test('one that registers between the two reads is none: its row comes before it is listed', async () => {
  let registered: Owner | null = null;
  const store = overriding(place.store, {
    workersAmong: async (incarnations) => {
      const known = await place.store.workersAmong(incarnations);
      registered ??= await registerOwner(place, { name: 'late' });
      return known;
    },
  });
  const table = overriding(place.table, {
    findOwners: async (...given) => {
      const owners = await place.table.findOwners(...given);
      registered ??= await registerOwner(place, { name: 'late' });
      return owners;
    },
  });
  for (const from of [{ store }, { table }]) {
    registered = null;
    await passAfter(0, from);
    expect(sightings.size).toBe(0);
  }
});

test.each(['the table', 'the store', 'the longest TTL'])(
  'what was seen before a failed read of %s proves nothing',
  async (which) => {
    await deleteRow(dead);
    await passAfter(0);
    const away = async (): Promise<never> => Promise.reject(new Unavailable('away'));
    const failing = {
      'the table': { table: overriding(place.table, { findOwners: away }) },
      'the store': { store: overriding(place.store, { workersAmong: away }) },
      'the longest TTL': { store: overriding(place.store, { longestTtlMs: away }) },
    }[which];
    await expect(passAfter(ttlMs - 1, failing)).rejects.toThrow(Unavailable);
    expect(await passAfter(1)).toEqual([]);
    expect(await passAfter(ttlMs - 1)).toEqual([]);
    expect(await passAfter(1)).toEqual([dead]);
  },
);

test('one that was not there in a pass between is seen anew', async () => {
  await deleteRow(dead);
  await passAfter(0);
  const epoch = await place.epoch.get();
  await place.table.unlistOwner(epoch, dead);
  await passAfter(ttlMs - 1);
  await place.table.listOwner(epoch, dead);
  expect(await passAfter(1)).toEqual([]);
  expect(await passAfter(ttlMs)).toEqual([dead]);
});

test('a pass cleans up twenty, and those that cannot be make room for the others', async () => {
  const owners: Owner[] = [];
  for (let index = 0; index < 25; index += 1) {
    owners.push(await registerOwner(place, { name: `o${String(index).padStart(2, '0')}` }));
  }
  for (const owner of owners) await deleteRow(owner);
  const poisoned = new Set(owners.slice(0, 20).map(({ incarnation }) => incarnation));
  const store = overriding(place.store, {
    runningOf: async (incarnation) => {
      if (poisoned.has(incarnation)) throw new Error('poisoned');
      return place.store.runningOf(incarnation);
    },
  });
  await passAfter(0, { store });
  expect(await passAfter(ttlMs, { store })).toEqual([]);
  expect(await passAfter(1, { store })).toEqual(owners.slice(20));
  expect(await passAfter(ttlMs)).toEqual(owners.slice(0, 20));
  expect(await listedOwners(place)).toEqual([dead, scene.live]);
});

test('where there is no orphan, a pass costs one call of each store', async () => {
  await dispatchJobs(place, {});
  const never = async (): Promise<never> => Promise.reject(new Error('It was not to be called.'));
  const store = overriding(place.store, { longestTtlMs: never, runningOf: never });
  expect(await passAfter(0, { store })).toEqual([]);
});

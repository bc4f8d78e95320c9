import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Owner } from '../owner.js';
import type { NamedWorker } from '../store/lost-workers.js';
import type { Place } from '../../test/worker/place.js';
import { sharedRedisUrl } from '../../test/helpers/servers.js';
import {
  DeathScene,
  listedOwners,
  registerOwner,
  rowsLeft,
  runningJobs,
} from '../../test/worker/dead-worker.js';
import { overriding } from '../../test/worker/overriding.js';
import { Unavailable } from '../errors.js';
import { releaseStaleLocksForSelf } from './release-stale-locks-for-self.js';

let scene: DeathScene;
let place: Place;
let dead: Owner;

beforeEach(async () => {
  scene = await DeathScene.open();
  ({ place, dead } = scene);
});
afterEach(async () => {
  await place.close();
});

const allDead = async (): Promise<boolean> => true;
const nobodyDead = async (): Promise<boolean> => false;

async function deleteRow({ incarnation }: Owner): Promise<void> {
  await place.database.query(`DELETE FROM "${place.namespace}".workers WHERE incarnation = $1`, [
    incarnation,
  ]);
}

async function startsAgain(isDead: (worker: NamedWorker) => Promise<boolean>): Promise<boolean> {
  const self = await registerOwner(place);
  const done = await releaseStaleLocksForSelf(place, self, isDead);
  expect(await listedOwners(place)).toContainEqual(self);
  return done;
}

describe('at its start a worker frees what was held by an earlier incarnation of its name', () => {
  test.each([
    [
      'that was declared dead',
      nobodyDead,
      async (): Promise<void> => void (await place.store.reapWorker(dead.incarnation)),
    ],
    ['that has no row any more', nobodyDead, async (): Promise<void> => deleteRow(dead)],
    ['that is known to be dead', allDead, async (): Promise<void> => {}],
  ] as const)('%s', async (_, isDead, happens) => {
    const [task] = await runningJobs(place, dead, {});
    await happens();
    expect(await startsAgain(isDead)).toBe(true);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'failed', error: { code: 'WorkerLost' } });
    expect(await scene.hold(task?.id)).toBeNull();
    expect(await rowsLeft(place)).not.toContain(dead.incarnation);
    expect(await listedOwners(place)).not.toContainEqual(dead);
  });

  test('all of them, and tells the probe of each that may live', async () => {
    const more = [await registerOwner(place), await registerOwner(place)];
    const asked: string[] = [];
    const isDead = async ({ incarnation }: NamedWorker): Promise<boolean> => asked.push(incarnation) > 0;
    expect(await startsAgain(isDead)).toBe(true);
    expect(asked).toEqual([dead, ...more].map(({ incarnation }) => incarnation));
    expect(await rowsLeft(place)).toHaveLength(2);
  });
});

describe('it leaves alone', () => {
  test('a namesake that may live', async () => {
    const [task] = await runningJobs(place, dead, {});
    expect(await startsAgain(nobodyDead)).toBe(true);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'running' });
    expect(await scene.hold(task?.id)).toMatchObject({ owner: dead });
    expect(await place.store.beat(dead.incarnation)).toBe('beaten');
  });

  test('a namesake that beats while it is being probed', async () => {
    const [task] = await runningJobs(place, dead, {});
    const isDead = async (worker: NamedWorker): Promise<boolean> => {
      await place.store.beat(worker.incarnation);
      return true;
    };
    await startsAgain(isDead);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'running' });
    expect(await place.store.beat(dead.incarnation)).toBe('beaten');
  });

  test('a later incarnation, and whoever has another name', async () => {
    const self = await registerOwner(place);
    const later = await registerOwner(place);
    const other = await registerOwner(place, { name: 'dead:1' });
    await releaseStaleLocksForSelf(place, self, allDead);
    expect(await listedOwners(place)).toEqual(expect.arrayContaining([self, later, other, scene.live]));
    for (const one of [self, later, other]) expect(await place.store.beat(one.incarnation)).toBe('beaten');
  });
});

describe('when something fails', () => {
  test('at one of them, the others are cleaned up all the same', async () => {
    const second = await registerOwner(place);
    const store = overriding(place.store, {
      reapWorker: async (incarnation, counter) => {
        if (incarnation === dead.incarnation) throw new Error('poisoned');
        return place.store.reapWorker(incarnation, counter);
      },
    });
    const self = await registerOwner(place);
    expect(await releaseStaleLocksForSelf({ ...place, store }, self, allDead)).toBe(false);
    expect(await rowsLeft(place)).toContain(dead.incarnation);
    expect(await rowsLeft(place)).not.toContain(second.incarnation);
    expect(await releaseStaleLocksForSelf(place, self, allDead)).toBe(true);
    expect(await rowsLeft(place)).toEqual([scene.live, self].map(({ incarnation }) => incarnation));
  });

  test('it says that something is left', async () => {
    await runningJobs(place, dead, {});
    const table = overriding(place.table, { release: async () => Promise.reject(new Error('no')) });
    const self = await registerOwner(place);
    expect(await releaseStaleLocksForSelf({ ...place, table }, self, allDead)).toBe(false);
    expect(await releaseStaleLocksForSelf(place, self, allDead)).toBe(true);
  });

  test('it rejects where a store cannot be asked', async () => {
    const away = async (): Promise<never> => Promise.reject(new Unavailable('away'));
    const self = await registerOwner(place);
    const store = overriding(place.store, { workersNamed: away });
    const table = overriding(place.table, { findOwners: away });
    await expect(releaseStaleLocksForSelf({ ...place, store }, self, allDead)).rejects.toThrow(Unavailable);
    await expect(releaseStaleLocksForSelf({ ...place, table }, self, allDead)).rejects.toThrow(Unavailable);
  });

  test('an outage ends it at the first that it concerns: each other would wait as long', async () => {
    await registerOwner(place);
    let calls = 0;
    const reapWorker = async (): Promise<never> => {
      calls += 1;
      throw new Unavailable('away');
    };
    const self = await registerOwner(place);
    const store = overriding(place.store, { reapWorker });
    await expect(releaseStaleLocksForSelf({ ...place, store }, self, allDead)).rejects.toThrow(Unavailable);
    expect(calls).toBe(1);
  });
});

test('a new name costs one command in Redis, whatever there is, and never SCAN', async () => {
  const redis = new Redis(sharedRedisUrl());
  const seen: string[] = [];
  const monitor = await redis.monitor();
  monitor.on('monitor', (_time: string, [command = '', , , key = '']: string[], source: string) => {
    if (source !== 'lua' && key.includes(place.namespace)) seen.push(command.toLowerCase());
    if (command.toLowerCase() === 'scan' && key.includes(place.namespace)) seen.push('scan');
  });
  const cost = async (): Promise<string[]> => {
    const self = await registerOwner(place, { name: `new-${seen.length}` });
    await redis.echo('settled');
    seen.length = 0;
    expect(await releaseStaleLocksForSelf(place, self, allDead)).toBe(true);
    await redis.echo('settled');
    return [...seen];
  };
  await cost();
  expect(await cost()).toEqual(['evalsha']);
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => registerOwner(place, { name: `other-${index}` })),
  );
  await runningJobs(place, dead, ...Array.from({ length: 50 }, () => ({})));
  expect(await cost()).toEqual(['evalsha']);
  monitor.disconnect();
  redis.disconnect();
});

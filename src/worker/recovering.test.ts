import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Owner } from '../owner.js';
import type { Incarnation } from './incarnation.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { DeathScene, registerOwner, rowsLeft, runningJobs } from '../../test/worker/dead-worker.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import type { Place } from '../../test/worker/place.js';
import { Unavailable } from '../errors.js';
import { isAmong } from '../recovery/is-among.js';
import { Recovering, type RecoveringOptions } from './recovering.js';

let scene: DeathScene;
let place: Place;
let dead: Owner;

beforeEach(async () => {
  scene = await DeathScene.open();
  ({ place } = scene);
  // All others that are registered here have long TTLs, and never die in a test.
  scene.dead = dead = await shortLived();
});
afterEach(async () => {
  await place.close();
});

const ttlMs = 600;

async function shortLived(name = 'short'): Promise<Owner> {
  return registerOwner(place, { name, ttlMs });
}

interface Given extends Partial<Pick<RecoveringOptions, 'isDead' | 'standbyPeriodMs'>> {
  owner?: Owner;
  from?: Partial<Place>;
  mayAct?: () => boolean;
}

/** What watches in the process of `live`, which itself needs no beats for it. */
function recovering({
  owner = scene.live,
  from = {},
  mayAct = () => true,
  ...given
}: Given = {}): Recovering {
  const { store, table, epoch, log } = { ...place, ...from };
  const incarnation: Incarnation = {
    ...{ owner, store, table, epoch, log, mayAct },
    ...{ isFenced: () => false, fence: () => {} },
  };
  const one = new Recovering({ incarnation, isDead: async () => false, ...given });
  place.onClose(() => one.stop());
  return one;
}

async function untilGone(...owners: Owner[]): Promise<void> {
  const gone = async (): Promise<boolean> => {
    const rows = await rowsLeft(place);
    return owners.every(({ incarnation }) => !rows.includes(incarnation));
  };
  await waitUntil(gone, 'the rows of the dead are gone');
}

async function isReaped({ incarnation }: Owner): Promise<boolean | undefined> {
  const workers = await place.store.observeWorkers();
  return workers.find((one) => one.incarnation === incarnation)?.reaped;
}

describe('who observes', () => {
  test('reaps who has not beaten for its TTL, and cleans up at once', async () => {
    const [task] = await runningJobs(place, dead, {});
    const started = performance.now();
    recovering().start();
    await untilGone(dead);
    expect(performance.now() - started).toBeGreaterThanOrEqual(ttlMs);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'failed', crashes: 1 });
    expect(await scene.hold(task?.id)).toBeNull();
    expect(place.lines.filter(({ fields }) => fields['dead'] === 'short')).toHaveLength(1);
  });

  test('leaves alone who beats', async () => {
    recovering().start();
    for (let beats = 0; beats < 12; beats += 1) {
      expect(await place.store.beat(dead.incarnation)).toBe('beaten');
      await delay(ttlMs / 6);
    }
    expect(await isReaped(dead)).toBe(false);
  });

  test('reaps only where the counter is the very one that it saw', async () => {
    let beaten = false;
    const store = overriding(place.store, {
      reapWorker: async (incarnation, counter) => {
        if (!beaten) await place.store.beat(dead.incarnation);
        beaten = true;
        return place.store.reapWorker(incarnation, counter);
      },
    });
    recovering({ from: { store } }).start();
    await waitUntil(() => beaten, 'it reaps');
    await delay(ttlMs / 2);
    expect(await isReaped(dead)).toBe(false);
    // It has not beaten since.
    await untilGone(dead);
  });

  test('reaps nobody while it cannot prove that it lives itself', async () => {
    let mayAct = false;
    recovering({ mayAct: () => mayAct }).start();
    await delay(2 * ttlMs);
    expect(await isReaped(dead)).toBe(false);
    mayAct = true;
    await untilGone(dead);
  });

  test('never reaps itself, however late its beats are', async () => {
    recovering({ owner: dead }).start();
    await delay(2 * ttlMs);
    expect(await isReaped(dead)).toBe(false);
  });

  test('reaps nobody before a whole TTL after an outage of the store', async () => {
    let away = false;
    const observe = async (): ReturnType<Place['store']['observeWorkers']> => {
      if (away) throw new Unavailable('away');
      return place.store.observeWorkers();
    };
    recovering({ from: { store: overriding(place.store, { observeWorkers: observe }) } }).start();
    await delay(ttlMs / 2);
    away = true;
    await delay(ttlMs / 4);
    const healed = performance.now();
    away = false;
    await untilGone(dead);
    expect(performance.now() - healed).toBeGreaterThanOrEqual(ttlMs);
  });

  test('goes on observing while a clean-up takes long', async () => {
    const { opened, open } = latch();
    const second = await shortLived('second');
    const store = overriding(place.store, {
      runningOf: async (incarnation) => {
        await opened;
        return place.store.runningOf(incarnation);
      },
    });
    recovering({ from: { store } }).start();
    await waitUntil(async () => (await isReaped(dead)) && (await isReaped(second)), 'both are reaped');
    const third = await shortLived('third');
    await waitUntil(async () => isReaped(third), 'a later one is reaped too');
    open();
    await untilGone(dead, second, third);
  });
});

describe('one that cannot be reaped or cleaned up', () => {
  test.each(['throws', 'hangs'])('and %s keeps the others neither alive nor dirty', async (how) => {
    const others = [await shortLived('a'), await shortLived('b')];
    const { opened, open } = latch();
    let tries = 0;
    const store = overriding(place.store, {
      reapWorker: async (incarnation, counter) => {
        if (incarnation !== dead.incarnation) return place.store.reapWorker(incarnation, counter);
        tries += 1;
        if (how === 'throws') throw new Error('poisoned');
        await opened;
        return 'alive';
      },
    });
    recovering({ from: { store } }).start();
    await untilGone(...others);
    const later = await shortLived('later');
    await untilGone(later);
    expect(await isReaped(dead)).toBe(false);
    // Once for each read, and not as fast as it goes.
    expect(tries).toBeLessThan(20);
    open();
  });

  test('is tried again at each observation, and the others are clean meanwhile', async () => {
    const others = [await shortLived('a'), await shortLived('b')];
    let poisoned = true;
    const store = overriding(place.store, {
      removeWorker: async (incarnation) => {
        if (poisoned && incarnation === dead.incarnation) throw new Error('poisoned');
        return place.store.removeWorker(incarnation);
      },
    });
    recovering({ from: { store } }).start();
    await untilGone(...others);
    expect(await isReaped(dead)).toBe(true);
    poisoned = false;
    await untilGone(dead);
  });
});

describe('who reaped and died', () => {
  test('is taken over from by another that observes', async () => {
    const [task] = await runningJobs(place, dead, {});
    const first = recovering({
      from: {
        store: overriding(place.store, {
          settleLostHolds: async () => Promise.reject(new Unavailable('It dies here.')),
        }),
      },
    });
    first.start();
    await waitUntil(async () => isReaped(dead), 'it is reaped');
    await first.stop();
    expect(await scene.hold(task?.id)).toMatchObject({ owner: dead });
    recovering({ owner: await registerOwner(place, { name: 'second' }) }).start();
    await untilGone(dead);
    expect(await scene.hold(task?.id)).toBeNull();
    expect(await scene.row(task?.id)).toMatchObject({ state: 'failed', crashes: 1 });
  });
});

describe('where more live than need to observe', () => {
  test('one that stands by takes over when all that observed are dead', async () => {
    const many: Owner[] = [];
    for (let index = 0; index < 80; index += 1) many.push(await shortLived(`m${index}`));
    const all = await rowsLeft(place);
    const owner = many.find(({ incarnation }) => !isAmong(64, all, incarnation)) as Owner;
    const others = many.filter((one) => one !== owner);
    recovering({ owner, standbyPeriodMs: ttlMs }).start();
    await untilGone(...others);
  });

  test('it does not observe while they beat', async () => {
    const many: Owner[] = [];
    for (let index = 0; index < 70; index += 1) many.push(await registerOwner(place, { name: `m${index}` }));
    const all = await rowsLeft(place);
    const owner = many.find(({ incarnation }) => !isAmong(64, all, incarnation)) as Owner;
    let reads = 0;
    const store = overriding(place.store, {
      observeWorkers: async () => {
        reads += 1;
        return place.store.observeWorkers();
      },
    });
    recovering({ owner, standbyPeriodMs: 60_000, from: { store } }).start();
    await delay(2 * ttlMs);
    expect(reads).toBe(1);
    expect(await isReaped(dead)).toBe(false);
  });
});

describe('at the start', () => {
  test('what cannot be cleaned up is told, and done at the next observation', async () => {
    const predecessor = await registerOwner(place, { name: 'again' });
    const [task] = await runningJobs(place, predecessor, {});
    const owner = await registerOwner(place, { name: 'again' });
    let away = true;
    const store = overriding(place.store, {
      workersNamed: async (name) => {
        if (away) throw new Unavailable('away');
        return place.store.workersNamed(name);
      },
    });
    const one = recovering({ owner, from: { store }, isDead: async () => true });
    await one.cleanUpForSelf();
    expect(place.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'running' });
    away = false;
    one.start();
    await untilGone(predecessor);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'failed' });
  });
});

test('an owner without a row goes after a TTL, and what was seen before a failed read is forgotten', async () => {
  const [task] = await runningJobs(place, dead, {});
  const { namespace, database } = place;
  await database.query(`DELETE FROM "${namespace}".workers WHERE incarnation = $1`, [dead.incarnation]);
  await database.query(`UPDATE "${namespace}".namespace SET longest_ttl_ms = $1`, [ttlMs]);
  // Passes follow observations, and those of a fleet with long TTLs are rare.
  const pacing = await shortLived('pacing');
  let reads = 0;
  let failedAt = 0;
  const store = overriding(place.store, {
    observeWorkers: async () => {
      await place.store.beat(pacing.incarnation);
      return place.store.observeWorkers();
    },
    workersAmong: async (incarnations) => {
      reads += 1;
      if (reads !== 3) return place.store.workersAmong(incarnations);
      failedAt = performance.now();
      throw new Error('once');
    },
  });
  recovering({ from: { store } }).start();
  await waitUntil(async () => (await scene.hold(task?.id)) === null, 'the orphan is clean');
  expect(performance.now() - failedAt).toBeGreaterThanOrEqual(ttlMs);
  expect(failedAt).toBeGreaterThan(0);
});

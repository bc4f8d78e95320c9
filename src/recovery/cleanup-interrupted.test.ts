import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Owner } from '../owner.js';
import type { Place } from '../../test/worker/place.js';
import type { Recovery } from './recovery.js';
import { settleLost, somePolicies, withRollback } from '../../test/store/rows.js';
import {
  admit,
  claimHolds,
  DeathScene,
  dispatchJobs,
  listedOwners,
  registerOwner,
  rowsLeft,
  runningJobs,
  workOff,
} from '../../test/worker/dead-worker.js';
import { overriding } from '../../test/worker/overriding.js';
import { Unavailable } from '../errors.js';
import { cleanupLocksForWorker } from './cleanup-locks-for-worker.js';

let scene: DeathScene;
let place: Place;
let dead: Owner;
let live: Owner;

beforeEach(async () => {
  scene = await DeathScene.open();
  ({ place, dead, live } = scene);
});
afterEach(async () => {
  await place.close();
});

const again = { ...somePolicies, onWorkerLost: 'retry' as const };

describe('one that cannot be settled', () => {
  async function twenty(): Promise<{ ids: string[]; poisoned: string }> {
    const ids = (await runningJobs(place, dead, ...Array.from({ length: 20 }, () => ({})))).map(
      ({ id }) => id,
    );
    return { ids, poisoned: ids[7] ?? '' };
  }

  /** All others are settled; the poisoned one, the row and the owner stay until it can be. */
  async function expectOnlyPoisonedLeft(poisoned: string, recovery: Recovery): Promise<void> {
    expect(await scene.lose(recovery)).toBe(false);
    expect(await scene.registry()).toEqual([poisoned]);
    expect(await rowsLeft(place)).toEqual([dead.incarnation, live.incarnation]);
    expect(await listedOwners(place)).toEqual([dead, live]);
    const errors = place.lines.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([{ fields: { task: poisoned, incarnation: dead.incarnation } }]);
    expect(await scene.lose()).toBe(true);
    await scene.expectClean();
    await scene.expectNothingLeft();
  }

  test('because its row is broken keeps nothing else back', async () => {
    const { poisoned } = await twenty();
    const store = overriding(place.store, {
      settleLostTasks: async (worker, tasks) => {
        if (tasks.some(({ task }) => task === poisoned)) throw new Error('poisoned');
        return place.store.settleLostTasks(worker, tasks);
      },
    });
    await expectOnlyPoisonedLeft(poisoned, { ...place, store });
  });

  test('because the store fails at its hold keeps nothing else back', async () => {
    const { poisoned } = await twenty();
    const store = overriding(place.store, {
      settleLostHolds: async (worker, holds) => {
        if (holds.some(({ task }) => task === poisoned)) throw new Error('poisoned');
        return place.store.settleLostHolds(worker, holds);
      },
    });
    place.lines.length = 0;
    expect(await scene.lose({ ...place, store })).toBe(false);
    expect(await scene.registry()).toEqual([poisoned]);
    expect(await scene.lose()).toBe(true);
    await scene.expectNothingLeft();
  });

  test('because a key of its resource was overwritten keeps nothing else back', async () => {
    const { poisoned } = await twenty();
    const table = overriding(place.table, {
      release: async (epoch, holds) => {
        if (holds.some(({ task }) => task === poisoned)) throw new Error('WRONGTYPE');
        return place.table.release(epoch, holds);
      },
    });
    expect(await scene.lose({ ...place, table })).toBe(false);
    expect(await scene.registry()).toEqual([poisoned]);
    expect(await rowsLeft(place)).toContain(dead.incarnation);
    expect(await scene.lose()).toBe(true);
    await scene.expectNothingLeft();
  });

  test.each(['before', 'after'])(
    'because somebody keeps its row locked, %s it was settled, keeps nothing else back',
    async (when) => {
      const { poisoned } = await twenty();
      await place.store.reapWorker(dead.incarnation);
      if (when === 'after') await settleLost(place.store, dead.incarnation, { task: poisoned, entry: 1 });
      const tasks = `"${place.namespace}".tasks`;
      await place.database.transaction(async (locked) => {
        await locked.query(`SELECT FROM ${tasks} WHERE id = $1 FOR UPDATE`, [poisoned]);
        const started = performance.now();
        const clean = await cleanupLocksForWorker(place, dead);
        expect(performance.now() - started).toBeLessThan(4_000);
        expect(clean).toBe(when === 'after');
        expect(await scene.registry()).toEqual(when === 'after' ? [] : [poisoned]);
        const message = 'a task of a dead worker is locked by somebody else';
        const told = place.lines.filter((line) => line.message === message);
        const fields = { task: poisoned, incarnation: dead.incarnation };
        expect(told).toMatchObject(when === 'after' ? [] : [{ level: 'error', fields }]);
      });
      await scene.lose();
      await scene.expectClean();
      await scene.expectNothingLeft();
    },
  );
});

/** Everything that a clean-up calls. */
const storeCalls = [
  'runningOf',
  'settleLostTasks',
  'settleLostLocks',
  'settleLostHolds',
  'getTask',
  'removeWorker',
] as const;
const tableCalls = ['readRegistry', 'inspectHold', 'move', 'release', 'unlistOwner'] as const;

interface Calls {
  recovery: Recovery;
  made(): number;
}

/** `around` is called for each call of either store, with its number from 1. */
function countingCalls(around: (call: number, make: () => Promise<unknown>) => Promise<unknown>): Calls {
  let calls = 0;
  const wrap = <T extends object>(target: T, methods: readonly (keyof T & string)[]): T => {
    const wrapped = methods.map((method) => {
      const own = Reflect.get(target, method) as (...given: unknown[]) => Promise<unknown>;
      return [
        method,
        async (...given: unknown[]) => around((calls += 1), async () => own.apply(target, given)),
      ];
    });
    return overriding(target, Object.fromEntries(wrapped) as Partial<T>);
  };
  const recovery = { ...place, store: wrap(place.store, storeCalls), table: wrap(place.table, tableCalls) };
  return { recovery, made: () => calls };
}

/** One of everything that there can be, and what must have become of each. */
async function everything(): Promise<{ settled(): Promise<unknown[]> }> {
  const tasks = await runningJobs(place, dead, {}, { policies: again }, { policies: withRollback });
  const [wentOn] = await runningJobs(place, dead, { policies: again });
  await place.store.giveBackTasks(dead.incarnation, [{ task: wentOn?.id ?? '', entry: 1 }]);
  const [claimed] = await dispatchJobs(place, {});
  await admit(place);
  await claimHolds(place, dead);
  const ids = [...tasks, wentOn, claimed].map((row) => row?.id ?? '');
  return {
    settled: async () => {
      const rows = await Promise.all(ids.map(async (id) => scene.row(id)));
      return rows.map(({ state, entry, crashes, attempt }) => ({ state, entry, crashes, attempt }));
    },
  };
}

const becomes = [
  { state: 'failed', entry: 1, crashes: 1, attempt: 1 },
  { state: 'waiting', entry: 2, crashes: 1, attempt: 0 },
  { state: 'rolling_back', entry: 2, crashes: 1, attempt: 1 },
  { state: 'waiting', entry: 2, crashes: 0, attempt: 0 },
  { state: 'waiting', entry: 2, crashes: 0, attempt: 0 },
];

describe('a clean-up', () => {
  test.each(['before', 'after'])('that dies %s any of its calls can be done again', async (when) => {
    for (let dying = 1, finished = false; !finished; dying += 1) {
      const left = await everything();
      const { recovery, made } = countingCalls(async (call, make) => {
        if (call < dying) return make();
        if (when === 'after' && call === dying) await make();
        throw new Error('The sweeper is dead.');
      });
      const clean = await scene.lose(recovery);
      finished = made() < dying;
      // What it did last may have been the last thing to do.
      if (!finished && when === 'before') expect(clean).toBe(false);
      await admit(place);
      if (!clean) expect(await scene.lose()).toBe(true);
      expect(await left.settled(), `when it dies ${when} call ${dying}`).toEqual(becomes);
      await scene.expectClean();
      await scene.expectNothingLeft();
      if (!finished) scene.dead = dead = await registerOwner(place);
    }
  });

  test.each([1, 2, 3, 4, 5, 6])(
    'goes on beside another one, in whatever order their calls are made (%d)',
    async () => {
      const left = await everything();
      const anyDelay = async (_: number, make: () => Promise<unknown>): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
        const answer = await make();
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
        return answer;
      };
      await place.store.reapWorker(dead.incarnation);
      const sweeps = [1, 2, 3].map(async () => cleanupLocksForWorker(countingCalls(anyDelay).recovery, dead));
      // Others take what is given back while it goes on, and must not lose it.
      const worked = workOff(place, live);
      await Promise.all(sweeps);
      const done = new Set(await worked);
      expect(await scene.lose()).toBe(true);
      await scene.expectClean();
      for (const id of await workOff(place, live)) done.add(id);
      const rows = await left.settled();
      expect(rows.map((row) => (row as { crashes: number }).crashes)).toEqual([1, 1, 1, 0, 0]);
      expect(done.size).toBe(4);
      await scene.expectNothingLeft();
    },
  );

  test.each(['an outage of the store', 'an outage of the table'])(
    'says that it is not done on %s',
    async (which) => {
      const left = await everything();
      const failing = async (): Promise<never> => Promise.reject(new Unavailable('It is away.'));
      const store = overriding(place.store, { settleLostHolds: failing });
      const table = overriding(place.table, { move: failing });
      expect(await scene.lose(which.endsWith('store') ? { ...place, store } : { ...place, table })).toBe(
        false,
      );
      expect(await rowsLeft(place)).toContain(dead.incarnation);
      expect(await listedOwners(place)).toContainEqual(dead);
      expect(await scene.lose()).toBe(true);
      expect(await left.settled()).toEqual(becomes);
      await scene.expectNothingLeft();
    },
  );

  test('costs what the worker held, not what there is', async () => {
    await dispatchJobs(place, ...Array.from({ length: 300 }, () => ({ exclusive: [] })));
    await admit(place);
    await claimHolds(place, dead, 3);
    const { recovery, made } = countingCalls(async (_, make) => make());
    expect(await scene.lose(recovery)).toBe(true);
    expect(made()).toBeLessThan(12);
    await scene.expectClean();
  });
});

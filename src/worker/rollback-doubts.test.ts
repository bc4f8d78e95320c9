import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { Unavailable } from '../errors.js';
import type { LockTable } from '../locks/lock-table.js';
import { openEpoch } from '../recovery/open-epoch.js';
import type { Admission } from '../store/store.js';
import { defineTask, type TaskOptions } from '../tasks/definition.js';
import { admissionPass } from './admission-pass.js';

/** Beats so rare that the comparison with memory cannot help. */
const rareBeats = { ttlMs: 600_000 };
let place: Place;
let story: string[];
afterEach(async () => {
  await place.close();
});

async function at(open: () => Promise<Place>): Promise<void> {
  place = await open();
  story = [];
}

function define(name: string, options: Omit<Partial<TaskOptions>, 'payload'>): void {
  const resources = (): { exclusive: string[] } => ({ exclusive: ['r'] });
  const run = (): void => void story.push(name);
  place.definitions.set(name, defineTask({ name, resources, run, ...options }));
}

/** Fails, and is rolled back by what is given. */
function defineFailing(options: Omit<Partial<TaskOptions>, 'payload'> = {}): void {
  const run = (): never => {
    story.push('run');
    throw Object.assign(new Error('boom'), { code: 'BOOM' });
  };
  define('failing', { run, rollback: () => void story.push('rollback'), ...options });
}

/** Holds keep to the entry that is over until then. */
function movingLater(until: Promise<void>): LockTable {
  return overriding(place.table, {
    move: async (epoch, moves) => {
      await until;
      return place.table.move(epoch, moves);
    },
  });
}

test.each(['finishTasks', 'giveBackTasks'] as const)(
  'where the reply of %s is lost, the locks are kept for the roll-back',
  async (call) => {
    await at(serverPlace);
    const started = latch();
    let behindBegan = false;
    define('behind', { run: () => void (behindBegan = true) });
    let early = true;
    const planned = call === 'giveBackTasks';
    let runs = 0;
    defineFailing({
      run: async (_, { signal }) => {
        if ((runs += 1) > 1) return;
        started.open();
        if (planned) await delay(60_000, undefined, { signal });
        throw new Error('boom');
      },
      rollback: () => void (early = behindBegan),
    });
    let lost = 0;
    const losing = async <T>(answer: Promise<T>): Promise<T> => {
      const reply = await answer;
      if ((lost += 1) === 1) throw new Unavailable('The reply was lost.');
      return reply;
    };
    const store = overriding(place.store, {
      [call]: (worker: string, list: never[]) => losing<unknown>(place.store[call](worker, list)),
    });
    const worker = await startWorker(place, { store, ...rareBeats, graceMs: 50 });
    const { id } = await place.dispatcher.dispatch('failing');
    await started.opened;
    const behind = await place.dispatcher.dispatch('behind');
    if (planned) {
      await worker.stop();
      await startWorker(place);
    }
    await inState(place, id, planned ? 'completed' : 'failed');
    await inState(place, behind.id, 'completed');
    expect([lost >= 2, early]).toEqual([true, false]);
    await holdsGone(place, id, behind.id);
  },
);

test('a claim of a roll-back whose reply is lost is given back, and it is run under another entry', async () => {
  await at(serverPlace);
  defineFailing();
  let claims = 0;
  const store = overriding(place.store, {
    claimTasks: async (claim) => {
      const outcome = await place.store.claimTasks(claim);
      if ((claims += 1) === 2) throw new Unavailable('The reply was lost.');
      return outcome;
    },
  });
  await startWorker(place, { store });
  const { id } = await place.dispatcher.dispatch('failing');
  const row = await inState(place, id, 'failed');
  expect(row).toMatchObject({ entry: 3, attempt: 1 });
  expect(story).toEqual(['run', 'rollback']);
  await holdsGone(place, id);
});

test('a task from SQL does not begin before its row knows of the roll-back', async () => {
  await at(serverPlace);
  defineFailing();
  let failures = 0;
  const store = overriding(place.store, {
    writePolicies: async (worker, policies) => {
      if ((failures += 1) === 1) throw new Unavailable('Not now.');
      await place.store.writePolicies(worker, policies);
    },
  });
  await startWorker(place, { store });
  const text = `SELECT "${place.namespace}".dispatch('failing', exclusive => ARRAY['r']) AS id`;
  const { rows } = await place.database.query<{ id: string }>(text);
  const row = await inState(place, rows[0]?.id ?? '', 'failed');
  expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['given-back', 'failed', 'rolled-back']);
  expect(story).toEqual(['run', 'rollback']);
});

test('an attempt whose child never called its handler is not rolled back', async () => {
  await at(serverPlace);
  defineFailing();
  const broken = fileURLToPath(new URL('./child-fixtures/throws-at-import.mjs', import.meta.url));
  await startWorker(place, { taskFiles: [broken], isolation: 'child' });
  const { id } = await place.dispatcher.dispatch('failing');
  const row = await inState(place, id, 'failed');
  expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['failed']);
});

test('a pass of admission that dies takes no hold out of a roll-back that it would have ended', async () => {
  await at(serverPlace);
  defineFailing();
  define('free', { resources: () => ({}) });
  const worker = await startWorker(place, { table: movingLater(new Promise(() => {})), ...rareBeats });
  const { id } = await place.dispatcher.dispatch('failing');
  await inState(place, id, 'rolling_back');
  // Its next claim tells the worker, and nobody is left to admit.
  await place.store.reapWorker(worker.owner.incarnation);
  await place.dispatcher.dispatch('free');
  await worker.ended;
  const epoch = await openEpoch(place, 'always');
  const over = `UPDATE "${place.namespace}".tasks SET rollback_until = now() WHERE id = $1`;
  await place.database.query(over, [id]);
  const dying = overriding(place.store, {
    admissionPass: <T>(pass: (admission: Admission) => Promise<T>) =>
      place.store.admissionPass<T>(async (admission) => {
        await pass(admission);
        throw new Error('It died.');
      }),
  });
  const request = { epoch, afterPlace: '0', offers: [], limit: 10 };
  await expect(admissionPass({ ...place, store: dying }, request)).rejects.toThrow('It died.');
  expect(await place.store.getTask(id)).toMatchObject({ state: 'rolling_back' });
  expect(await place.table.inspectHold(epoch, id)).toMatchObject({ entry: 2, status: 'granted' });
  await admissionPass(place, request);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'failed' });
  await admissionPass(place, request);
  expect(await place.table.inspectHold(epoch, id)).toBeNull();
});

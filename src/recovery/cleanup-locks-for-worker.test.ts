import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Owner } from '../owner.js';
import type { Place } from '../../test/worker/place.js';
import type { NewTask } from '../store/store.js';
import { insertOf, requestOf, somePolicies, withRollback, settleLost } from '../../test/store/rows.js';
import {
  admit,
  claimHolds,
  DeathScene,
  dispatchJobs,
  listedOwners,
  registerOwner,
  runningJobs,
  workOff,
} from '../../test/worker/dead-worker.js';
import { damage } from '../../test/worker/damage.js';
import { overriding } from '../../test/worker/overriding.js';
import { laneText } from '../lane.js';
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

/** The hold of what the dead one runs at once, which has no place. */
async function enterNow({
  id,
  exclusive,
  shared,
}: Pick<NewTask, 'id' | 'exclusive' | 'shared'>): Promise<void> {
  const lane = laneText({ queue: 'default', name: 'job', needs: {} });
  const hold = { task: id, entry: 1, lane, priority: 0, place: '0', exclusive, shared };
  await place.table.enterNow(await place.epoch.get(), dead, [hold]);
}

const again = { ...somePolicies, onWorkerLost: 'retry' as const };

describe('what a dead worker leaves', () => {
  test('is settled, and it is unlisted and loses its row', async () => {
    const [fails, waits] = await runningJobs(place, dead, {}, { policies: again });
    expect(await scene.lose()).toBe(true);
    expect(await scene.row(fails?.id)).toMatchObject({ state: 'failed', crashes: 1 });
    expect(await scene.row(waits?.id)).toMatchObject({ state: 'waiting', entry: 2 });
    expect(await scene.hold(fails?.id)).toBeNull();
    expect(await scene.hold(waits?.id)).toMatchObject({ entry: 2, status: 'granted', owner: null });
    await scene.expectClean();
    await scene.expectNothingLeft();
  });

  test('is touched alone: what others hold stays theirs, also a namesake', async () => {
    const namesake = await registerOwner(place);
    const [others] = await runningJobs(place, live, {});
    const [namesakes] = await runningJobs(place, namesake, {});
    await runningJobs(place, dead, {});
    expect(await scene.lose()).toBe(true);
    expect(await scene.hold(others?.id)).toMatchObject({ status: 'owned', owner: live });
    expect(await scene.hold(namesakes?.id)).toMatchObject({ status: 'owned', owner: namesake });
    expect(await scene.row(namesakes?.id)).toMatchObject({ state: 'running', crashes: 0 });
    expect(await listedOwners(place)).toEqual(expect.arrayContaining([namesake]));
  });

  test('stays where the worker was not reaped', async () => {
    const [task] = await runningJobs(place, dead, {});
    expect(await cleanupLocksForWorker(place, dead)).toBe(false);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'running' });
    expect(await scene.hold(task?.id)).toMatchObject({ owner: dead });
  });

  test('is found by the rows of its tasks where its registry was lost', async () => {
    const [task] = await runningJobs(place, dead, { policies: again });
    const table = overriding(place.table, { readRegistry: async () => [] });
    await scene.lose({ ...place, table });
    expect(await scene.hold(task?.id)).toMatchObject({ entry: 2, owner: null });
    await scene.expectClean();
  });

  test('is dropped from its registry where there is no hold', async () => {
    const [task] = await runningJobs(place, dead, {});
    const table = overriding(place.table, {
      readRegistry: async (...given) => {
        const listed = await place.table.readRegistry(...given);
        return listed.map((one) => ({ ...one, entry: null }));
      },
    });
    await place.table.release(await place.epoch.get(), [{ task: task?.id ?? '', entry: 1, owner: dead }]);
    expect(await scene.lose({ ...place, table })).toBe(true);
    await scene.expectClean();
  });

  test('goes where its row was deleted by hand, too', async () => {
    const [task] = await runningJobs(place, dead, {});
    const workers = `"${place.namespace}".workers`;
    await place.database.query(`DELETE FROM ${workers} WHERE incarnation = $1`, [dead.incarnation]);
    expect(await cleanupLocksForWorker(place, dead)).toBe(true);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'failed' });
    await scene.expectClean();
  });

  test('is released where no row tells of it: an immediate task that never came to be', async () => {
    const insert = insertOf(dead.incarnation, await place.epoch.get());
    await enterNow(insert.task);
    expect(await scene.lose()).toBe(true);
    expect(await place.store.insertRunning(insert)).toEqual({ status: 'reaped' });
    await scene.expectClean();
    await scene.expectNothingLeft();
  });

  test('goes where a process held a lock, waited for one, and ran an immediate task', async () => {
    const epoch = await place.epoch.get();
    const held = insertOf(dead.incarnation, epoch, { lock: true });
    const immediate = insertOf(dead.incarnation, epoch, { exclusive: ['i'], shared: [], policies: again });
    const asked = requestOf(dead.incarnation);
    for (const insert of [held, immediate]) {
      await enterNow(insert.task);
      expect(await place.store.insertRunning(insert)).toMatchObject({ status: 'running' });
    }
    await place.store.requestLock(asked);
    await admit(place);
    expect(await scene.lose()).toBe(true);
    expect(await place.store.getTask(held.task.id)).toBeNull();
    expect(await scene.hold(held.task.id)).toBeNull();
    expect(await scene.row(immediate.task.id)).toMatchObject({ state: 'waiting', entry: 2 });
    await admit(place);
    expect(await place.store.getTask(asked.lock.id)).toBeNull();
    await scene.expectClean();
  });
});

describe('a hold that was claimed in the table only', () => {
  test('goes back at its place under the next entry, and those behind it stay behind', async () => {
    const jobs = await dispatchJobs(place, { exclusive: ['r'] }, { exclusive: ['r'] }, { exclusive: ['r'] });
    await admit(place);
    expect(await claimHolds(place, dead)).toHaveLength(1);
    expect(await scene.lose()).toBe(true);
    const [first] = jobs;
    expect(await scene.hold(first?.id)).toMatchObject({ entry: 2, status: 'granted', owner: null });
    expect(await scene.row(first?.id)).toMatchObject({ attempt: 0, crashes: 0 });
    expect(await workOff(place, live)).toEqual(jobs.map(({ id }) => id));
    await scene.expectNothingLeft();
  });

  test('is released where its queue was paused meanwhile', async () => {
    const [paused] = await dispatchJobs(place, { queue: 'other', exclusive: ['r'] });
    const [behind] = await dispatchJobs(place, { exclusive: ['r'] });
    await admit(place);
    expect(await claimHolds(place, dead, 1, 'other')).toHaveLength(1);
    await place.store.pauseQueue('other');
    expect(await scene.lose()).toBe(true);
    expect(await scene.hold(paused?.id)).toBeNull();
    expect(await workOff(place, live)).toEqual([behind?.id]);
    await place.store.resumeQueue('other');
    expect(await workOff(place, live, 'other')).toEqual([paused?.id]);
    await scene.expectNothingLeft();
  });

  test('is released where its task was canceled, or retried at another place', async () => {
    const [canceled, retried] = await dispatchJobs(place, {}, {});
    await admit(place);
    await claimHolds(place, dead);
    for (const job of [canceled, retried]) await place.store.cancelTask(job?.id ?? '');
    await place.store.retryTask(retried?.id ?? '');
    expect(await scene.lose()).toBe(true);
    expect(await scene.hold(canceled?.id)).toBeNull();
    expect(await workOff(place, live)).toEqual([retried?.id]);
    await scene.expectNothingLeft();
  });
});

describe('a registry entry without a hold', () => {
  test('is dropped, and keeps nothing back', async () => {
    const [task] = await runningJobs(place, dead, { exclusive: ['r'] });
    const { id = '' } = task ?? {};
    await place.store.finishTasks(dead.incarnation, [
      { task: id, entry: 1, state: 'completed', result: null },
    ]);
    await damage(place, { lostHold: id }, { lostLock: 'r' });
    expect(await scene.registry()).toEqual([id]);
    expect(await scene.lose()).toBe(true);
    await scene.expectClean();
    await scene.expectNothingLeft();
  });
});

describe('a hold whose task went on', () => {
  test('keeps its place where the sweeper died before it was moved', async () => {
    const [first, second] = await runningJobs(
      place,
      dead,
      { policies: again, exclusive: ['r'] },
      { exclusive: ['r'] },
    );
    await place.store.reapWorker(dead.incarnation);
    await settleLost(place.store, dead.incarnation, { task: first?.id ?? '', entry: 1 });
    await admit(place);
    expect(await scene.lose()).toBe(true);
    expect(await workOff(place, live)).toEqual([first?.id, second?.id]);
    await scene.expectNothingLeft();
  });

  test('is released and not moved where its task needs more than it has', async () => {
    const [lacking] = await runningJobs(place, dead, { exclusive: ['r'] });
    const { id = '', place: at } = lacking ?? {};
    const more = { exclusive: ['r', 's'], shared: [] };
    await place.store.readmitWithResources(dead.incarnation, { task: id, entry: 1, ...more });
    expect(await scene.row(id)).toMatchObject({ state: 'waiting', entry: 2, place: at });
    expect(await scene.lose()).toBe(true);
    expect(await scene.hold(id)).toBeNull();
    expect(await workOff(place, live)).toEqual([id]);
    await scene.expectNothingLeft();
  });

  test('is released where its task was canceled while it was being settled', async () => {
    const [task] = await runningJobs(place, dead, { policies: again, exclusive: ['r'] });
    const { id = '' } = task ?? {};
    await place.store.reapWorker(dead.incarnation);
    await settleLost(place.store, dead.incarnation, { task: id, entry: 1 });
    const store = overriding(place.store, {
      settleLostHolds: async (worker, holds) => {
        const outcomes = await place.store.settleLostHolds(worker, holds);
        await place.store.cancelTask(id);
        return outcomes;
      },
    });
    expect(await scene.lose({ ...place, store })).toBe(true);
    expect(await scene.hold(id)).toBeNull();
    await scene.expectNothingLeft();
  });

  test('is released and not moved where its task is to be retried later', async () => {
    const [retried] = await runningJobs(place, dead, { exclusive: ['r'] });
    const [behind] = await dispatchJobs(place, { exclusive: ['r'] });
    const error = { code: 'E', message: 'e' };
    await place.store.finishTasks(dead.incarnation, [
      { task: retried?.id ?? '', entry: 1, state: 'retry', error, delayMs: 0 },
    ]);
    expect(await scene.lose()).toBe(true);
    expect(await scene.hold(retried?.id)).toBeNull();
    expect(await workOff(place, live)).toEqual([behind?.id, retried?.id]);
    await scene.expectNothingLeft();
  });

  test('goes on under its locks where the task is rolled back', async () => {
    const [task] = await runningJobs(place, dead, { policies: withRollback, exclusive: ['r'] });
    const [behind] = await dispatchJobs(place, { exclusive: ['r'] });
    await admit(place);
    expect(await scene.lose()).toBe(true);
    expect(await scene.row(task?.id)).toMatchObject({ state: 'rolling_back', entry: 2 });
    expect(await scene.hold(task?.id)).toMatchObject({ entry: 2, status: 'granted', owner: null });
    expect(await scene.hold(behind?.id)).toMatchObject({ status: 'queued' });
    // The roll-back, then the retry behind the others: it lost an attempt, and keeps its place.
    const [first, ...others] = await workOff(place, live);
    expect(first).toBe(task?.id);
    expect(others).toHaveLength(2);
    await scene.expectNothingLeft();
  });

  test('goes on under its locks where the task that is rolled back ran at once', async () => {
    const task = { name: 'job', exclusive: ['r'], shared: [], policies: withRollback };
    const insert = insertOf(dead.incarnation, await place.epoch.get(), task);
    await enterNow(insert.task);
    await place.store.insertRunning(insert);
    const [behind] = await dispatchJobs(place, { exclusive: ['r'] });
    await admit(place);
    expect(await scene.lose()).toBe(true);
    expect(await scene.row(insert.task.id)).toMatchObject({ state: 'rolling_back', entry: 2 });
    expect(await scene.hold(insert.task.id)).toMatchObject({ entry: 2, status: 'granted', owner: null });
    expect(await scene.hold(behind?.id)).toMatchObject({ status: 'queued' });
    expect((await workOff(place, live))[0]).toBe(insert.task.id);
    await scene.expectNothingLeft();
  });
});

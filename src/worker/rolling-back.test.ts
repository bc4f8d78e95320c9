import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { embeddedPlace, serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import type { LockTable } from '../locks/lock-table.js';
import { openEpoch } from '../recovery/open-epoch.js';
import { cancelTask } from '../tasks/cancel-task.js';
import { defineTask, type TaskOptions } from '../tasks/definition.js';

/** Beats so rare that the comparison with memory cannot help. */
const rareBeats = { ttlMs: 600_000 };
let place: Place;
let story: string[];
afterEach(async () => {
  await place.close();
});

// Compiling PGlite takes a while, and longer on a busy machine.
beforeAll(async () => {
  await (await embeddedPlace()).close();
}, 120_000);

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

function cancel(id: string): Promise<unknown> {
  return cancelTask({ store: place.store, hint: (hint) => void hint(place.table) }, id);
}

const told = (reason: string, code: string): object => ({ code: 'BOOM', reason, rollback: { code } });

describe.each([
  ['on real servers', () => serverPlace()],
  ['embedded', () => embeddedPlace()],
])('%s', (_where, open) => {
  test('a failed attempt is rolled back under its locks, with a new fence, and then fails', async () => {
    await at(open);
    const gate = latch();
    const seen: unknown[] = [];
    defineFailing({
      rollback: async (payload, context) => {
        const { task, fence, signal, progress } = context;
        story.push('rollback');
        seen.push(
          payload,
          Object.keys(context).toSorted(),
          signal.aborted,
          task.error?.code,
          fence === task.fence,
        );
        progress({ undone: 1 });
        await gate.opened;
      },
    });
    define('behind', {});
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('failing', { repo: 7 });
    const behind = await place.dispatcher.dispatch('behind');
    const claimed = async (): Promise<boolean> => story.includes('rollback');
    await waitUntil(claimed, 'it rolls back');
    const rolling = await inState(place, id, 'rolling_back');
    expect(rolling).toMatchObject({ entry: 2, attempt: 1, error: { code: 'BOOM' } });
    const [first] = rolling.attempts;
    expect(first).toMatchObject({ outcome: 'failed', error: { code: 'BOOM' } });
    expect((await place.store.getTask(behind.id))?.state).toBe('waiting');
    gate.open();
    const row = await inState(place, id, 'failed');
    await inState(place, behind.id, 'completed');
    expect(row).toMatchObject({ error: { code: 'BOOM', message: 'boom' }, progress: [{ undone: 1 }] });
    expect(row.error).not.toHaveProperty('rollback');
    expect(story).toEqual(['run', 'rollback', 'behind']);
    expect(seen).toEqual([{ repo: 7 }, ['fence', 'log', 'progress', 'signal', 'task'], false, 'BOOM', true]);
    await holdsGone(place, id, behind.id);
  });

  test('a retry comes after the roll-back, and completes without one', async () => {
    await at(open);
    let runs = 0;
    defineFailing({
      maxAttempts: 2,
      backoff: { initial: 100 },
      run: () => {
        story.push('run');
        if ((runs += 1) === 1) throw new Error('once');
      },
    });
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('failing');
    const row = await inState(place, id, 'completed');
    expect(row).toMatchObject({ attempt: 2, entry: 3, error: null });
    expect(row.attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'retried'],
      [1, 'rolled-back'],
      [2, 'completed'],
    ]);
    expect(story).toEqual(['run', 'rollback', 'run']);
    await holdsGone(place, id);
  });

  test('what a roll-back throws is told, and the task fails with the error of its attempt', async () => {
    await at(open);
    defineFailing({
      rollback: () => {
        throw Object.assign(new Error('stuck'), { code: 'STUCK' });
      },
    });
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('failing');
    expect((await inState(place, id, 'failed')).error).toMatchObject(told('rollback-failed', 'STUCK'));
    await holdsGone(place, id);
  });

  test('one that takes too long hears its signal abort, and is told apart', async () => {
    await at(open);
    const reasons: unknown[] = [];
    defineFailing({
      rollbackTimeout: 300,
      rollback: async (_, { signal }) => {
        await delay(60_000, undefined, { signal }).catch(() => reasons.push(signal.reason));
      },
    });
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('failing');
    expect((await inState(place, id, 'failed')).error).toMatchObject(told('rollback-timed-out', 'Timeout'));
    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
  });

  test('a canceled attempt is rolled back before it is canceled, and a cancel does not disturb that', async () => {
    await at(open);
    const started = latch();
    const rolling = latch();
    const gate = latch();
    let aborted = false;
    defineFailing({
      run: async (_, { signal }) => {
        started.open();
        await delay(60_000, undefined, { signal });
      },
      rollback: async (_, { signal }) => {
        rolling.open();
        await gate.opened;
        aborted = signal.aborted;
      },
    });
    await startWorker(place);
    const { id } = await place.dispatcher.dispatch('failing');
    await started.opened;
    await cancel(id);
    await rolling.opened;
    expect(await cancel(id)).toMatchObject({ state: 'rolling_back', rollback: { outcome: 'canceled' } });
    gate.open();
    expect(await inState(place, id, 'canceled')).toMatchObject({ error: null, result: null });
    expect(aborted).toBe(false);
    await holdsGone(place, id);
  });

  test('an attempt that had not begun is not rolled back', async () => {
    await at(open);
    const payload = {
      '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
    };
    const rollback = (): void => void story.push('rollback');
    place.definitions.set('unfit', defineTask({ name: 'unfit', payload, run: () => {}, rollback }));
    await startWorker(place);
    const { rows } = await place.database.query<{ id: string }>(
      `SELECT "${place.namespace}".dispatch('unfit') AS id`,
    );
    const row = await inState(place, rows[0]?.id ?? '', 'failed');
    expect(row.error?.code).toBe('InvalidTask');
    expect(story).toEqual([]);
  });

  test('one that nobody has claimed in time ends in its outcome, and lets those behind it go on', async () => {
    await at(open);
    defineFailing({ rollbackTimeout: 300 });
    define('behind', {});
    // It never moves its holds, so that nobody can claim the roll-back.
    const moving = latch();
    const table = movingLater(moving.opened);
    const worker = await startWorker(place, { table, ...rareBeats });
    const { id } = await place.dispatcher.dispatch('failing');
    await inState(place, id, 'rolling_back');
    const behind = await place.dispatcher.dispatch('behind');
    const row = await inState(place, id, 'failed', 20_000);
    expect(row.error).toMatchObject(told('rollback-not-run', 'RollbackNotRun'));
    expect(story).toEqual(['run']);
    // The hold is still of the entry before, and owned: it goes with its owner.
    const { owner } = worker;
    await place.table.release(await place.epoch.get(), [{ task: id, entry: 1, owner }]);
    await inState(place, behind.id, 'completed', 20_000);
    await holdsGone(place, id, behind.id);
    moving.open();
  });

  test('in a new epoch an unclaimed one is granted to nobody, and keeps the resource until it has ended', async () => {
    await at(open);
    defineFailing();
    define('behind', {});
    const moving = latch();
    const table = movingLater(moving.opened);
    await startWorker(place, { table, ...rareBeats });
    const { id } = await place.dispatcher.dispatch('failing');
    await inState(place, id, 'rolling_back');
    const epoch = await openEpoch(place, 'always');
    expect(await place.table.inspectHold(epoch, id)).toMatchObject({
      entry: 2,
      status: 'granted',
      owner: null,
    });
    const behind = await place.dispatcher.dispatch('behind');
    await inState(place, id, 'failed', 20_000);
    await inState(place, behind.id, 'completed', 20_000);
    expect(story).toEqual(['run', 'rollback', 'behind']);
    moving.open();
  });
});

test('a planned stop rolls an attempt back before it waits again, and another worker does it', async () => {
  await at(serverPlace);
  let runs = 0;
  const started = latch();
  defineFailing({
    run: async (_, { signal }) => {
      story.push('run');
      if ((runs += 1) > 1) return;
      started.open();
      await delay(60_000, undefined, { signal });
    },
  });
  const worker = await startWorker(place, { graceMs: 50 });
  const { id } = await place.dispatcher.dispatch('failing');
  await started.opened;
  await worker.stop();
  const row = await place.store.getTask(id);
  expect(row).toMatchObject({
    state: 'rolling_back',
    entry: 2,
    worker: null,
    rollback: { outcome: 'given-back' },
  });
  const hold = await place.table.inspectHold(await place.epoch.get(), id);
  expect(hold).toMatchObject({ entry: 2, status: 'granted', owner: null });
  await startWorker(place);
  expect(await inState(place, id, 'completed')).toMatchObject({ attempt: 1, crashes: 0, place: row?.place });
  expect(story).toEqual(['run', 'rollback', 'run']);
});

test('a planned stop in the middle of a roll-back gives it back, nothing counted', async () => {
  await at(serverPlace);
  const rolling = latch();
  defineFailing({
    rollback: async (_, { signal }) => {
      story.push('rollback');
      if (story.length > 2) return;
      rolling.open();
      await delay(60_000, undefined, { signal });
    },
  });
  const worker = await startWorker(place, { graceMs: 50 });
  const { id } = await place.dispatcher.dispatch('failing');
  await rolling.opened;
  await worker.stop();
  expect(await place.store.getTask(id)).toMatchObject({ state: 'rolling_back', entry: 3, worker: null });
  await startWorker(place);
  const row = await inState(place, id, 'failed');
  expect(row).toMatchObject({ crashes: 0, attempt: 1, error: { code: 'BOOM' } });
  expect(row.attempts.map(({ outcome }) => outcome)).toEqual([
    'failed',
    'rollback-given-back',
    'rolled-back',
  ]);
  expect(story).toEqual(['run', 'rollback', 'rollback']);
  await holdsGone(place, id);
});

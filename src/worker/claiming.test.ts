import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { holdsGone, inState, startWorker } from '../../test/worker/test-worker.js';
import { Unavailable } from '../errors.js';
import { type ClaimedHold, EpochRefused } from '../locks/lock-table.js';
import { ownerText } from '../owner.js';
import type { ClaimOutcome, TaskRow } from '../store/store.js';
import { defineTask } from '../tasks/definition.js';

let place: Place;
/** Beats so rare that only what is under test can help. */
const rareBeats = { ttlMs: 600_000 };
const runs: { task: string; entry: number; attempt: number }[] = [];

beforeEach(async () => {
  place = await serverPlace();
  runs.length = 0;
  place.definitions.set(
    'job',
    defineTask({
      name: 'job',
      resources: () => ({ exclusive: ['r'] }),
      run: (_payload, { task, attempt }) => void runs.push({ task: task.id, entry: task.entry, attempt }),
    }),
  );
});
afterEach(async () => {
  await place.close();
});

/** The first claim in the store goes through `first`, all others are left alone. */
function withFirstClaim(
  first: (
    claim: () => Promise<ClaimOutcome>,
    claimed: { task: string; entry: number }[],
  ) => Promise<ClaimOutcome>,
): Place['store'] {
  let claims = 0;
  return overriding(place.store, {
    claimTasks: (request) => {
      const claim = (): Promise<ClaimOutcome> => place.store.claimTasks(request);
      return (claims += 1) === 1 ? first(claim, request.claims) : claim();
    },
  });
}

/** Of the only worker. */
async function fourBeats(): Promise<void> {
  const counter = async (): Promise<number> => {
    const [row] = await place.store.listWorkers({ after: null, limit: 1 });
    return Number(row?.counter);
  };
  const before = await counter();
  await waitUntil(async () => (await counter()) >= before + 4, 'four beats have passed');
}

async function onceRun(id: string, entry: number): Promise<TaskRow> {
  const row = await inState(place, id, 'completed');
  expect(runs).toEqual([{ task: id, entry, attempt: 1 }]);
  expect(row).toMatchObject({ entry, attempt: 1 });
  await holdsGone(place, id);
  return row;
}

test('a claim whose reply is lost is given back and never taken up', async () => {
  const store = withFirstClaim(async (claim) => {
    expect(await claim()).toMatchObject({ status: 'claimed', claimed: [{ entry: 1 }] });
    throw new Unavailable('The reply was lost.');
  });
  await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  await onceRun(id, 2);
});

test('a claim that never reached the store is given back too', async () => {
  const store = withFirstClaim(async () => {
    throw new Unavailable('It was never sent.');
  });
  await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  await onceRun(id, 2);
});

test('a claim that executes seconds after its worker gave up on it claims nothing', async () => {
  const late: Promise<ClaimOutcome>[] = [];
  let epochLock: Promise<void> | undefined;
  const done = latch();
  const store = withFirstClaim(async (claim) => {
    const locked = latch();
    // As a rebuild does: every claim waits for it.
    epochLock = place.store.rebuild(async () => {
      locked.open();
      await done.opened;
    });
    await locked.opened;
    late.push(claim());
    await delay(200);
    throw new Unavailable('No reply in time.');
  });
  await startWorker(place, { store });
  const { id } = await place.dispatcher.dispatch('job');
  const waits = async (): Promise<boolean> => (await place.store.getTask(id))?.entry === 2;
  await waitUntil(waits, 'the task was given back');
  await delay(1_000);
  expect(runs).toEqual([]);
  done.open();
  await epochLock;
  expect(await late[0]).toMatchObject({ status: 'claimed', claimed: [], refused: [{ task: id, entry: 1 }] });
  await onceRun(id, 2);
});

test('a claim that the store refuses for its entry leaves no hold of that entry', async () => {
  const other = await place.store.registerWorker({
    ...{ name: 'other', kind: 'worker', host: 'h', pid: 1, identity: {}, ttlMs: 60_000, concurrency: 1 },
    ...{ queues: [], names: [], versions: {}, tableFormat: 1 },
  });
  let refused: ClaimOutcome | undefined;
  const store = withFirstClaim(async (claim, claims) => {
    await place.store.giveBackTasks(
      other.incarnation,
      claims.map(({ task, entry }) => ({ task, entry })),
    );
    refused = await claim();
    return refused;
  });
  await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  await onceRun(id, 2);
  expect(refused).toMatchObject({ status: 'claimed', refused: [{ task: id, entry: 1, runsHere: false }] });
});

test('a claim of an epoch that is not the committed one any more is forgotten, and claimed in the new one', async () => {
  const store = withFirstClaim(async (claim) => {
    const { epoch } = await place.store.readNamespace();
    // Committed elsewhere: the table still has the older one, so another is opened.
    await place.store.rebuild(async (rebuild) => {
      await rebuild.commitEpoch({ epoch: await rebuild.drawEpoch(epoch), identity: 'another server' });
    });
    const outcome = await claim();
    expect(outcome).toEqual({ status: 'epoch' });
    return outcome;
  });
  await startWorker(place, { store });
  const before = await place.epoch.get();
  const { id } = await place.dispatcher.dispatch('job');
  await onceRun(id, 1);
  expect(BigInt(await place.epoch.get())).toBeGreaterThan(BigInt(before));
});

test('a claim of a worker that was reaped fences it, and touches nothing', async () => {
  const store = withFirstClaim(async (claim) => {
    await place.store.reapWorker(worker.owner.incarnation);
    return claim();
  });
  const worker = await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(runs).toEqual([]);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 1 });
  const hold = await place.table.inspectHold(await place.epoch.get(), id);
  expect(hold).toMatchObject({ entry: 1, owner: worker.owner });
});

test('holds that a claim took whose reply was lost are given back after two comparisons', async () => {
  let lost = 0;
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      const answer = await place.table.claim(epoch, request);
      if (answer === 'unlisted' || answer.holds.length === 0 || lost > 0) return answer;
      lost += 1;
      throw new Unavailable('The reply was lost.');
    },
  });
  await startWorker(place, { table });
  const { id } = await place.dispatcher.dispatch('job');
  await onceRun(id, 2);
  expect(lost).toBe(1);
});

test('a task that runs here without anybody here knowing is given back after two comparisons', async () => {
  place.definitions.set('other', defineTask({ name: 'other', run: () => {} }));
  const worker = await startWorker(place, { queues: ['elsewhere'] });
  const { id } = await place.dispatcher.dispatch('other');
  const epoch = await place.epoch.get();
  const row = await place.store.getTask(id);
  const { lane, priority } = row as TaskRow;
  const hold = { task: id, entry: 1, lane, priority, place: row?.place ?? '', exclusive: [], shared: [] };
  await place.table.enter(epoch, '1000000', [hold]);
  const claimed = await place.table.claim(epoch, {
    owner: worker.owner,
    lanes: [lane],
    limit: 1,
    lanesVersion: null,
  });
  if (claimed === 'unlisted') throw new Error('It should be listed.');
  const claim = { worker: worker.owner.incarnation, epoch, claims: claimed.holds };
  expect(await place.store.claimTasks(claim)).toMatchObject({ claimed: [{ id }] });
  expect((await inState(place, id, 'waiting')).entry).toBe(2);
  const moved = async (): Promise<boolean> => {
    const view = await place.table.inspectHold(epoch, id);
    return view?.entry === 2 && view.owner === null;
  };
  await waitUntil(moved, 'its hold has moved to the new entry');
});

test('a running task is not taken for unknown while its end is written and its hold released', async () => {
  const finish = latch();
  place.definitions.set('long', defineTask({ name: 'long', run: () => finish.opened }));
  const releases = latch();
  const table = overriding(place.table, {
    release: async (epoch, holds) => {
      await releases.opened;
      return place.table.release(epoch, holds);
    },
  });
  await startWorker(place, { table, ttlMs: 1_000 });
  const { id } = await place.dispatcher.dispatch('long');
  await inState(place, id, 'running');
  await delay(1_500);
  finish.open();
  await inState(place, id, 'completed');
  await delay(1_000);
  releases.open();
  await holdsGone(place, id);
  expect(place.lines.filter(({ message }) => message.includes('gives back'))).toEqual([]);
});

test('a hold that is claimed twice, by whatever mistake, does not disturb the task that runs with it', async () => {
  const finish = latch();
  place.definitions.set('long', defineTask({ name: 'long', run: () => finish.opened }));
  let first: ClaimedHold[] = [];
  let repeated = 0;
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      const answer = await place.table.claim(epoch, request);
      if (answer === 'unlisted') return answer;
      if (answer.holds.length > 0) first = answer.holds;
      else if (first.length > 0 && (repeated += 1) === 1) return { ...answer, holds: first };
      return answer;
    },
  });
  const worker = await startWorker(place, { table, ttlMs: 1_000 });
  const { id } = await place.dispatcher.dispatch('long');
  await waitUntil(() => repeated > 0, 'it was claimed twice');
  await fourBeats();
  expect(await place.store.getTask(id)).toMatchObject({ state: 'running', entry: 1 });
  finish.open();
  expect(await inState(place, id, 'completed')).toMatchObject({ entry: 1, attempt: 1 });
  await worker.stop();
});

test('a worker whose owner is not listed lists itself', async () => {
  const worker = await startWorker(place);
  const epoch = await place.epoch.get();
  await place.table.unlistOwner(epoch, worker.owner);
  const { id } = await place.dispatcher.dispatch('job');
  await inState(place, id, 'completed');
  const owners = await place.table.findOwners(epoch, { after: null, limit: 10 });
  expect(owners.map(ownerText)).toEqual([ownerText(worker.owner)]);
});

test('a worker that was cleaned up while its claim was under way lists itself no more', async () => {
  const calls: string[] = [];
  let swept = false;
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      calls.push('claim');
      if (runs.length > 0 && !swept) {
        await place.store.reapWorker(worker.owner.incarnation);
        await place.table.unlistOwner(epoch, worker.owner);
        await worker.ended;
        swept = true;
        calls.length = 0;
      }
      return place.table.claim(epoch, request);
    },
    listOwner: async (epoch, owner) => {
      calls.push('listOwner');
      await place.table.listOwner(epoch, owner);
    },
  });
  const worker = await startWorker(place, { table });
  await place.dispatcher.dispatch('job');
  await waitUntil(async () => swept, 'it was cleaned up');
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  await delay(200);
  expect(calls).toEqual([]);
});

test('a refused epoch is looked for anew', async () => {
  let refusals = 0;
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      if ((refusals += 1) <= 2) throw new EpochRefused('other', epoch);
      return place.table.claim(epoch, request);
    },
  });
  await startWorker(place, { table });
  const { id } = await place.dispatcher.dispatch('job');
  await inState(place, id, 'completed');
});

test('a lost claim of a worker that was reaped is left to the sweep', async () => {
  const store = withFirstClaim(async (claim) => {
    await claim();
    await place.store.reapWorker(worker.owner.incarnation);
    throw new Unavailable('The reply was lost.');
  });
  const worker = await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  expect(await worker.ended).toMatchObject({ code: 'Fenced' });
  expect(runs).toEqual([]);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'running', entry: 1 });
  const hold = await place.table.inspectHold(await place.epoch.get(), id);
  expect(hold).toMatchObject({ entry: 1, owner: worker.owner });
});

test('a claim that is under way for several beats is not taken for unknown', async () => {
  let claims = 0;
  const beats = latch();
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      const answer = await place.table.claim(epoch, request);
      if (answer === 'unlisted' || answer.holds.length === 0) return answer;
      if ((claims += 1) === 1) await beats.opened;
      return answer;
    },
  });
  const worker = await startWorker(place, { table, ttlMs: 1_000 });
  const { id } = await place.dispatcher.dispatch('job');
  await waitUntil(() => claims === 1, 'the claim is under way');
  await fourBeats();
  beats.open();
  await onceRun(id, 1);
  await worker.stop();
});

test('what one comparison found and the next did not is left alone', async () => {
  let reads = 0;
  let givenBack = 0;
  const table = overriding(place.table, {
    readRegistry: async (epoch, owner, page) => {
      const registry = await place.table.readRegistry(epoch, owner, page);
      // As if it had been read before a release and compared after it.
      const ended = { task: '00000000-0000-7000-8000-000000000000', entry: 1, fence: null };
      return (reads += 1) % 2 === 1 ? [ended, ...registry] : registry;
    },
  });
  const store = overriding(place.store, {
    giveBackTasks: async (worker, tasks) => {
      givenBack += 1;
      return place.store.giveBackTasks(worker, tasks);
    },
  });
  await startWorker(place, { table, store, ttlMs: 1_000 });
  await waitUntil(() => reads >= 4, 'four comparisons were made');
  expect(givenBack).toBe(0);
});

test('a claim that is answered after the stop was asked for is given back', async () => {
  const asked = latch();
  const answer = latch();
  const store = withFirstClaim(async (claim) => {
    asked.open();
    await answer.opened;
    return claim();
  });
  const worker = await startWorker(place, { store, ...rareBeats });
  const { id } = await place.dispatcher.dispatch('job');
  await asked.opened;
  const stopped = worker.stop();
  answer.open();
  await stopped;
  expect(runs).toEqual([]);
  expect(await place.store.getTask(id)).toMatchObject({ state: 'waiting', entry: 2, attempt: 0 });
  expect(await place.store.listWorkers({ after: null, limit: 10 })).toEqual([]);
  const hold = await place.table.inspectHold(await place.epoch.get(), id);
  expect(hold).toMatchObject({ entry: 2, owner: null, status: 'granted' });
});

test('without a single wake-up the polls find what is dispatched', async () => {
  const table = overriding(place.table, {
    wakeAdmission: async () => {},
    waitForWake: async (_epoch, _lanes, timeoutMs, signal) => {
      await delay(timeoutMs, undefined, { signal }).catch(() => {});
      return 'timeout';
    },
  });
  await startWorker(place, { table });
  const { rows } = await place.database.query<{ id: string }>(
    `SELECT "${place.namespace}".dispatch('job', exclusive => ARRAY['r']) AS id`,
  );
  await onceRun(rows[0]?.id ?? '', 1);
});

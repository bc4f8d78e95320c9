import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { startRedis, type RedisServer } from '../../test/helpers/redis-server.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { newWorker } from '../../test/store/rows.js';
import { WrongTable } from '../errors.js';
import { laneText } from '../lane.js';
import { EpochRefused } from '../locks/lock-table.js';
import { defineTask } from '../tasks/definition.js';
import { findOrOpenEpoch, openEpoch } from './open-epoch.js';

let redis: RedisServer;
let place: Place;
const lane = laneText({ queue: 'default', name: 'job', needs: {} });

beforeEach(async () => {
  redis = await startRedis({ args: ['--enable-debug-command', 'yes'] });
  place = await serverPlace({ redisUrl: redis.url });
  place.definitions.set('job', defineTask({ name: 'job', run: () => {} }));
});
afterEach(async () => {
  await place.close();
  await redis.stop();
});

/** A task that runs in the epoch, in the name of a worker that no process runs. */
async function runningTask(epoch: string, exclusive: string[]): Promise<{ id: string; incarnation: string }> {
  const { id } = await place.dispatcher.dispatch('job', null, { exclusive });
  const row = await place.store.getTask(id);
  const { incarnation } = await place.store.registerWorker({
    ...{ name: 'w', kind: 'worker', host: 'h', pid: 1, identity: {}, ttlMs: 60_000, concurrency: 1 },
    ...{ queues: [], names: [], versions: {}, tableFormat: 1 },
  });
  const owner = { name: 'w', incarnation };
  const hold = { task: id, entry: 1, lane, priority: 0, place: row?.place ?? '', exclusive, shared: [] };
  await place.table.listOwner(epoch, owner);
  await place.table.enter(epoch, '1000000', [hold]);
  const answer = await place.table.claim(epoch, { owner, lanes: [lane], limit: 1, lanesVersion: null });
  if (answer === 'unlisted') throw new Error('It is listed.');
  await place.store.claimTasks({ worker: incarnation, epoch, claims: answer.holds });
  return { id, incarnation };
}

test('the first who looks opens an epoch, and everybody after finds it', async () => {
  const first = await findOrOpenEpoch(place);
  expect(await findOrOpenEpoch(place)).toBe(first);
  expect(await place.table.readEpoch()).toMatchObject({ epoch: first, status: 'open', identityHolds: true });
  expect(await place.store.readNamespace()).toMatchObject({ epoch: first });
});

test('ten who look at once open one epoch', async () => {
  const epochs = await Promise.all(Array.from({ length: 10 }, () => findOrOpenEpoch(place)));
  expect(new Set(epochs).size).toBe(1);
});

test('after the server lost everything a new epoch holds what runs, under its owner', async () => {
  const before = await findOrOpenEpoch(place);
  const { id, incarnation } = await runningTask(before, ['r']);
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
  await expect(
    place.table.readRegistry(before, { name: 'w', incarnation }, { after: null, limit: 1 }),
  ).rejects.toThrow(EpochRefused);
  const after = await findOrOpenEpoch(place);
  expect(BigInt(after)).toBeGreaterThan(BigInt(before));
  const row = await place.store.getTask(id);
  const hold = await place.table.inspectHold(after, id);
  expect(hold).toMatchObject({
    status: 'owned',
    owner: { name: 'w', incarnation },
    fence: row?.fence,
    entry: 1,
  });
  const registry = await place.table.readRegistry(
    after,
    { name: 'w', incarnation },
    { after: null, limit: 10 },
  );
  expect(registry).toMatchObject([{ task: id, entry: 1 }]);
});

test('a table whose server has become another one is not used, although nothing is missing there', async () => {
  const before = await findOrOpenEpoch(place);
  const client = new Redis(redis.url);
  // What a demotion does: the same process goes on with another replication id.
  await client.call('DEBUG', 'CHANGE-REPL-ID');
  client.disconnect();
  expect(await place.table.readEpoch()).toMatchObject({
    epoch: before,
    status: 'open',
    identityHolds: false,
  });
  expect(BigInt(await findOrOpenEpoch(place))).toBeGreaterThan(BigInt(before));
});

test('a table that carries the committed number by chance, on another server, is not used', async () => {
  const before = await findOrOpenEpoch(place);
  await place.database.query(`UPDATE "${place.namespace}".namespace SET identity = 'of another server'`);
  expect(BigInt(await findOrOpenEpoch(place))).toBeGreaterThan(BigInt(before));
});

test('an epoch that was opened and never committed is not used, and its number not drawn again', async () => {
  const before = await findOrOpenEpoch(place);
  const store = overriding(place.store, {
    rebuild: (build) =>
      place.store.rebuild((rebuild) =>
        build(
          overriding(rebuild, {
            commitEpoch: async () => {
              throw new Error('The session was lost.');
            },
          }),
        ),
      ),
  });
  await expect(openEpoch({ ...place, store }, 'always')).rejects.toThrow('lost');
  const lost = await place.table.readEpoch();
  expect(lost?.status).toBe('open');
  expect(await place.store.readNamespace()).toMatchObject({ epoch: before });
  const after = await findOrOpenEpoch(place);
  expect(BigInt(after)).toBeGreaterThan(BigInt(lost?.epoch ?? '0'));
});

test('a number that the table has seen and the store has not is exceeded', async () => {
  await place.table.beginEpoch('777', 1);
  expect(BigInt(await findOrOpenEpoch(place))).toBeGreaterThan(777n);
});

test('who finds another process building waits for it', async () => {
  await findOrOpenEpoch(place);
  let building: () => void = () => {};
  const goOn = new Promise<void>((resolve) => {
    building = resolve;
  });
  const table = overriding(place.table, {
    openEpoch: async (epoch) => {
      await goOn;
      return place.table.openEpoch(epoch);
    },
  });
  const built = openEpoch({ ...place, table }, 'always');
  await waitUntil(async () => (await place.table.readEpoch())?.status === 'building', 'it builds');
  const found = findOrOpenEpoch(place);
  building();
  expect(await found).toBe(await built);
});

test('running tasks that conflict are logged, and the others entered all the same', async () => {
  const before = await findOrOpenEpoch(place);
  const first = await runningTask(before, ['r']);
  const second = await runningTask(before, ['s']);
  await place.database.query(`UPDATE "${place.namespace}".tasks SET exclusive = '{r}' WHERE id = $1`, [
    second.id,
  ]);
  const third = await runningTask(before, ['t']);
  const after = await openEpoch(place, 'always');
  expect(await place.table.inspectHold(after, first.id)).toMatchObject({ status: 'owned' });
  expect(await place.table.inspectHold(after, second.id)).toBeNull();
  expect(await place.table.inspectHold(after, third.id)).toMatchObject({ status: 'owned' });
  expect(place.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { task: second.id } },
  ]);
});

test('the keys of older epochs are unlinked in the background', async () => {
  const before = await findOrOpenEpoch(place);
  await runningTask(before, ['r']);
  await openEpoch(place, 'always');
  const client = new Redis(redis.url);
  const gone = async (): Promise<boolean> =>
    (await client.keys(`{${place.namespace}}:${before}:*`)).length === 0;
  await waitUntil(gone, 'they are gone');
  client.disconnect();
});

test('many running tasks are entered although each takes the table a while', async () => {
  const before = await findOrOpenEpoch(place);
  for (let n = 0; n < 100; n += 1) await runningTask(before, [`r${n}`]);
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
  // As with large holds on a server far away, each of which is a call of its own.
  const table = overriding(place.table, {
    enterBuilding: async (epoch, holds) => {
      await delay(60 * holds.length);
      return place.table.enterBuilding(epoch, holds);
    },
  });
  const after = await findOrOpenEpoch({ ...place, table });
  expect(await place.table.inspectLocks(after, ['r0', 'r99'], 1)).toMatchObject([
    { holders: [{ owner: { name: 'w' } }] },
    { holders: [{ owner: { name: 'w' } }] },
  ]);
});

describe('while two versions run side by side', () => {
  const before = { oldest: 1, newest: 1 };
  const next = { oldest: 1, newest: 2 };
  const afterNext = { oldest: 2, newest: 3 };
  const register = async (tableFormat: number): Promise<string> => {
    const { incarnation } = await place.store.registerWorker(newWorker({ tableFormat }));
    return incarnation;
  };
  const formatOfTable = async (): Promise<number | undefined> => (await place.table.readEpoch())?.format;

  test('a new epoch has the format that all that live can keep, whoever opens it', async () => {
    const old = await register(1);
    await register(2);
    for (const formats of [next, before]) {
      await openEpoch({ ...place, formats }, 'always');
      expect(await formatOfTable()).toBe(1);
      await findOrOpenEpoch({ ...place, formats: before });
    }
    await place.store.reapWorker(old);
    await openEpoch({ ...place, formats: next }, 'always');
    expect(await formatOfTable()).toBe(2);
  });

  test('where nobody lives, it has the newest that the opener can keep', async () => {
    await openEpoch({ ...place, formats: next }, 'always');
    expect(await formatOfTable()).toBe(2);
  });

  test('a table that a newer version has upgraded is refused by the version before, and left as it is', async () => {
    const epoch = await openEpoch({ ...place, formats: next }, 'always');
    await expect(findOrOpenEpoch({ ...place, formats: before })).rejects.toThrow(
      'has format 2; this build keeps format 1. Run a newer version',
    );
    expect(await findOrOpenEpoch({ ...place, formats: next })).toBe(epoch);
  });

  test('a version that cannot keep what an older one needs opens no epoch while that lives', async () => {
    const epoch = await openEpoch({ ...place, formats: before }, 'always');
    const old = await register(1);
    const refused = findOrOpenEpoch({ ...place, formats: afterNext });
    await expect(refused).rejects.toThrow(WrongTable);
    await expect(refused).rejects.toThrow('keeps format 1 of the lock table at most');
    expect(await findOrOpenEpoch({ ...place, formats: before })).toBe(epoch);
    await place.store.reapWorker(old);
    expect(BigInt(await findOrOpenEpoch({ ...place, formats: afterNext }))).toBeGreaterThan(BigInt(epoch));
    expect(await formatOfTable()).toBe(3);
  });
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiAt, nothingLeft, waitersOn } from '../../test/api/test-api.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { overriding } from '../../test/worker/overriding.js';
import { serverPlace, type Place } from '../../test/worker/place.js';
import { Unavailable } from '../errors.js';
import { fenceText } from '../fence.js';
import type { Store } from '../store/store.js';

let place: Place;
beforeEach(async () => {
  place = await serverPlace();
});
afterEach(() => place.close());

const r = { exclusive: ['r'] };
const lost = (): Unavailable => new Unavailable('The reply was lost.');

/** The first call of a method is done, and its reply lost; `before` is called before that, with the call not made. */
function losing<Key extends 'insertRunning' | 'requestLock' | 'claimTasks' | 'discardTasks'>(
  method: Key,
  first: (call: () => Promise<unknown>) => Promise<unknown> = (call) => call(),
): Store {
  let calls = 0;
  const replaced = async (...given: unknown[]): Promise<unknown> => {
    const call = (): Promise<unknown> =>
      (place.store[method] as (...args: unknown[]) => Promise<unknown>)(...given);
    calls += 1;
    if (calls > 1) return call();
    await first(call);
    throw lost();
  };
  return overriding(place.store, { [method]: replaced });
}

test('a lock whose insert was done and its reply lost is given up', async () => {
  const api = apiAt(place, { store: losing('insertRunning') });
  await expect(api.acquire(r, { wait: 0 })).rejects.toMatchObject({ code: 'Unavailable' });
  await nothingLeft(place);
});

test('a lock whose insert comes in late is never inserted, and its hold goes when that is certain', async () => {
  let late: () => Promise<unknown> = async () => {};
  const api = apiAt(place, {
    store: losing('insertRunning', async (call) => {
      late = call;
    }),
  });
  await expect(api.acquire(r, { wait: 0 })).rejects.toMatchObject({ code: 'Unavailable' });
  const next = await api.acquire(r, { wait: '20s' });
  expect(await late()).toEqual({ status: 'void' });
  await next.release();
  await nothingLeft(place);
});

test('an insert that others overtook, and that was passed with a lost one, is repeated', async () => {
  const store = overriding(place.store, {
    insertRunning: async (insert) => {
      if (insert.number === 1) await place.store.voidInserts(insert.worker, 1);
      return place.store.insertRunning(insert);
    },
  });
  const api = apiAt(place, { store });
  await (await api.acquire(r, { wait: 0 })).release();
  await nothingLeft(place);
});

test.each([
  ['was sent', (call: () => Promise<unknown>) => call()],
  ['never came', async () => {}],
] as const)('a request whose reply was lost, and which %s, leaves no trace', async (_, first) => {
  const api = apiAt(place, { store: losing('requestLock', first) });
  await using held = await api.acquire(r, { wait: 0 });
  await expect(api.acquire(r, { wait: '20s' })).rejects.toMatchObject({ code: 'Unavailable' });
  await held.release();
  await nothingLeft(place);
});

test('a request that comes in late is never inserted', async () => {
  let late: () => Promise<unknown> = async () => {};
  const store = losing('requestLock', async (call) => {
    late = call;
  });
  const api = apiAt(place, { store });
  await expect(api.acquire(r, { wait: '20s' })).rejects.toMatchObject({ code: 'Unavailable' });
  await waitUntil(async () => (await late()) === 'void', 'it is impossible');
  await nothingLeft(place);
});

test('a request that is given up before it was answered leaves no trace', async () => {
  const stop = new AbortController();
  const store = overriding(place.store, {
    requestLock: async (request) => {
      stop.abort(new Error('enough'));
      return place.store.requestLock(request);
    },
  });
  const api = apiAt(place, { store });
  await expect(api.acquire(r, { wait: '20s', signal: stop.signal })).rejects.toThrow('enough');
  await nothingLeft(place);
});

test('a claim whose reply was lost is given up, and who waited is told', async () => {
  const api = apiAt(place, { store: losing('claimTasks') });
  await expect(api.acquire(r, { wait: '20s' })).rejects.toMatchObject({ code: 'Unavailable' });
  await nothingLeft(place);
});

test('a release is repeated until it is done', async () => {
  const store = losing('discardTasks', async () => {});
  const api = apiAt(place, { store });
  const lock = await api.acquire(r, { wait: 0 });
  await lock.release();
  expect(await place.store.getTask(lock.id)).toBeNull();
  await nothingLeft(place);
});

test('a hold that came in late, after who asked had given up, is found and released', async () => {
  const late: (() => Promise<unknown>)[] = [];
  const table = overriding(place.table, {
    enterNow: (epoch, owner, holds) => {
      if (late.length > 0) return place.table.enterNow(epoch, owner, holds);
      late.push(() => place.table.enterNow(epoch, owner, holds));
      return Promise.reject(lost());
    },
  });
  const api = apiAt(place, { table, ttlMs: 1_500 });
  await expect(api.acquire(r, { wait: 0 })).rejects.toMatchObject({ code: 'Unavailable' });
  await waitUntil(async () => late[0]?.(), 'it came in');
  await expect(api.acquire(r, { wait: 0 })).rejects.toMatchObject({ code: 'ResourcesBusy' });
  await nothingLeft(place);
});

test('a claim in the table whose reply was lost is found, and who waited is told', async () => {
  let claims = 0;
  const table = overriding(place.table, {
    claim: async (epoch, request) => {
      const answer = await place.table.claim(epoch, request);
      if (answer === 'unlisted' || answer.holds.length === 0 || (claims += 1) > 1) return answer;
      throw lost();
    },
  });
  const api = apiAt(place, { table, ttlMs: 1_500 });
  await expect(api.acquire(r, { wait: '20s' })).rejects.toMatchObject({ code: 'Unavailable' });
  await nothingLeft(place);
});

test('a change of the epoch between hold and insert is followed', async () => {
  let changed = false;
  const store = overriding(place.store, {
    insertRunning: async (insert) => {
      if (!changed) {
        changed = true;
        await place.store.rebuild(async (rebuild) => {
          const epoch = await rebuild.drawEpoch(insert.epoch);
          await rebuild.commitEpoch({ epoch, identity: 'another server' });
        });
      }
      return place.store.insertRunning(insert);
    },
  });
  const api = apiAt(place, { store });
  const lock = await api.acquire(r, { wait: 0 });
  const epoch = await place.epoch.get();
  expect(lock.fence > fenceText(epoch, '0')).toBe(true);
  expect(await place.table.inspectHold(epoch, lock.id)).toMatchObject({ status: 'owned' });
  await lock.release();
  await nothingLeft(place);
});

test('a reaping between hold and insert refuses the lock, and the next call registers anew', async () => {
  let reaped = false;
  const store = overriding(place.store, {
    insertRunning: async (insert) => {
      if (!reaped) await place.store.reapWorker(insert.worker);
      reaped = true;
      return place.store.insertRunning(insert);
    },
  });
  const api = apiAt(place, { store });
  await expect(api.acquire(r, { wait: 0 })).rejects.toMatchObject({ code: 'Fenced' });
  expect(await place.store.listTasks({ after: null, limit: 9 })).toEqual([]);
  // Its next incarnation cleans up after it first.
  await using lock = await api.acquire(r, { wait: 0 });
  const workers = await place.store.listWorkers({ after: null, limit: 9 });
  expect(workers.map((worker) => worker.reaped)).toEqual([false]);
  await lock.release();
});

test('who is fenced has lost its locks and its waits, and can register anew', async () => {
  const api = apiAt(place, { ttlMs: 1_500 });
  const held = await api.acquire(r, { wait: 0 });
  const waiting = expect(api.acquire(r, { wait: '20s' })).rejects.toMatchObject({ code: 'Fenced' });
  await waitersOn(place, 'r', 1);
  const [row] = await place.store.listWorkers({ after: null, limit: 9 });
  await place.store.reapWorker(row?.incarnation ?? '');
  await waitUntil(() => held.signal.aborted, 'the lock is lost');
  expect(held.signal.reason).toMatchObject({ code: 'LockLost' });
  await waiting;
  await held.release();
  expect((await place.store.getTask(held.id))?.state).toBe('running');
  await using other = await api.acquire({ exclusive: ['r1'] }, { wait: 0 });
  expect(other.fence > held.fence).toBe(true);
});

test.each([
  ['insertRunning', 0],
  ['claimTasks', '20s'],
] as const)(
  'a lock is not given to a process that was fenced before %s was answered',
  async (method, wait) => {
    const slow = async (...given: unknown[]): Promise<unknown> => {
      const answer = await (place.store[method] as (...args: unknown[]) => Promise<unknown>)(...given);
      const [row] = await place.store.listWorkers({ after: null, limit: 9 });
      await place.store.reapWorker(row?.incarnation ?? '');
      await waitUntil(() => place.lines.some(({ message }) => message.startsWith('fenced')), 'it is fenced');
      return answer;
    };
    const api = apiAt(place, { store: overriding(place.store, { [method]: slow }), ttlMs: 1_500 });
    await expect(api.acquire(r, { wait })).rejects.toMatchObject({ code: 'Fenced' });
    expect(await place.store.listTasks({ after: null, limit: 9 })).toMatchObject([{ state: 'running' }]);
  },
);

test('a hold is released only when its row is gone', async () => {
  const rows: unknown[] = [];
  const table = overriding(place.table, {
    release: async (epoch, holds) => {
      for (const { task } of holds) rows.push(await place.store.getTask(task));
      return place.table.release(epoch, holds);
    },
  });
  const api = apiAt(place, { table });
  await (await api.acquire(r, { wait: 0 })).release();
  expect(rows).toEqual([null]);
});

test('closing ends although a lock cannot be released, and so does its release', async () => {
  const table = overriding(place.table, { release: () => Promise.reject(lost()) });
  const api = apiAt(place, { table, writtenMs: 200 });
  const [given, kept] = [
    await api.acquire(r, { wait: 0 }),
    await api.acquire({ shared: ['s'] }, { wait: 0 }),
  ];
  const released = given.release();
  await api.close();
  await released;
  await kept.release();
  expect(kept.signal.reason).toMatchObject({ code: 'LockLost' });
  // It still is in the table, so its owner must stay in the store.
  expect(await place.store.listWorkers({ after: null, limit: 9 })).toMatchObject([{ name: 'web' }]);
});

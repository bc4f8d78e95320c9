import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Holdfast, HoldfastOptions } from '../holdfast.js';
import type { TaskListOptions } from '../tasks/reading/list-tasks.js';
import {
  dropNamespace,
  sharedPostgresUrl,
  sharedRedisUrl,
  uniqueNamespace,
} from '../../test/helpers/servers.js';
import {
  InvalidTask,
  NotFound,
  PayloadTooLarge,
  Unavailable,
  WaitTimeout,
  WrongSchema,
  WrongTable,
} from '../errors.js';
import { createHoldfast } from '../holdfast.js';

let namespace: string;
let opened: Holdfast[];

beforeEach(() => {
  namespace = uniqueNamespace();
  opened = [];
});
afterEach(async () => {
  for (const hf of opened) await hf.close();
  await dropNamespace(namespace);
});

async function open(options: HoldfastOptions = {}): Promise<Holdfast> {
  const servers = { database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace };
  const hf = await createHoldfast({ ...servers, migrate: true, ...options });
  opened.push(hf);
  return hf;
}

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

describe('a namespace that is not migrated', () => {
  it('is refused at its first use, until it is migrated', async () => {
    const hf = await open({ migrate: false });
    await expect(hf.dispatch('x')).rejects.toThrow(WrongSchema);
    await expect(hf.tasks.list()).rejects.toThrow('holdfast migrate');
    const pending = await hf.pendingMigrations();
    expect(pending.length).toBeGreaterThan(0);
    expect(await hf.migrate()).toEqual({ applied: pending });
    expect(await hf.pendingMigrations()).toEqual([]);
    await hf.dispatch('x');
  });
});

describe('a namespace that lacks the last migration', () => {
  it('is refused as well, although dispatch would work', async () => {
    await open();
    const { rows } = await withClient((client) =>
      client.query<{ name: string }>(
        `DELETE FROM "${namespace}".migrations WHERE name = (SELECT max(name) FROM "${namespace}".migrations)
         RETURNING name`,
      ),
    );
    const hf = await open({ migrate: false });
    await expect(hf.dispatch('x')).rejects.toThrow(WrongSchema);
    await expect(hf.dispatch('x')).rejects.toThrow(`lacks ${rows[0]?.name}`);
  });
});

describe('dispatch', () => {
  it('stores what it returns', async () => {
    const hf = await open();
    const payload = { a: [1, 'é', null], b: { c: 1.5e300 } };
    const options = {
      exclusive: ['b', 'a'],
      shared: ['c'],
      priority: 3,
      queue: 'q',
      runAt: '2030-01-01T00:00:00Z',
    };
    const dispatched = await hf.dispatch('elsewhere', payload, options);
    const { createdAt, ...task } = await hf.tasks.get(dispatched.id);
    expect(task).toEqual(dispatched);
    expect(task).toMatchObject({
      payload,
      exclusive: ['a', 'b'],
      shared: ['c'],
      runAt: '2030-01-01T00:00:00.000Z',
    });
    expect(new Date(createdAt).toISOString()).toBe(createdAt);
  });

  it('works while Redis is out of reach', async () => {
    const hf = await open({ redis: 'redis://127.0.0.1:1' });
    const { id } = await hf.dispatch('x');
    expect(await hf.tasks.get(id)).toMatchObject({ state: 'waiting' });
    await expect(hf.wait(id, { timeout: 100 })).rejects.toThrow(WaitTimeout);
    await expect(hf.locks.list({ resource: 'r' })).rejects.toThrow(Unavailable);
    await hf.dispatchMany([{ task: 'y' }]);
  });

  it('refuses names that PostgreSQL cannot hold and stores odd ones without loss', async () => {
    const hf = await open();
    const odd = ['{}', '*', 'a\nb', `{${namespace}}:1:lock:x`, 'é'.repeat(512), 'shared:x', '"', '\\'];
    const { id } = await hf.dispatch('*', '{}', { exclusive: odd });
    expect((await hf.tasks.get(id)).exclusive).toEqual([...odd].sort());
    await expect(hf.dispatch('x', null, { exclusive: ['a\0b'] })).rejects.toThrow(InvalidTask);
    await expect(hf.dispatch('x', null, { exclusive: ['\uDC00'] })).rejects.toThrow(InvalidTask);
  });

  it('takes a payload of 1 MiB and refuses a larger one', async () => {
    const hf = await open();
    const { id } = await hf.dispatch('x', 'y'.repeat(1_048_574));
    expect((await hf.tasks.get(id)).payload).toHaveLength(1_048_574);
    await expect(hf.dispatch('x', 'y'.repeat(1_048_575))).rejects.toThrow(PayloadTooLarge);
  });

  it('is part of a transaction of the caller', async () => {
    const hf = await open();
    await withClient(async (tx) => {
      await tx.query('BEGIN');
      const kept = await hf.dispatch('kept', null, { tx });
      await expect(hf.tasks.get(kept.id)).rejects.toThrow(NotFound);
      await tx.query('COMMIT');
      await tx.query('BEGIN');
      const dropped = await hf.dispatchMany([{ task: 'dropped' }, { name: 'dropped too' }], { tx });
      await tx.query('ROLLBACK');
      expect(await hf.tasks.get(kept.id)).toMatchObject({ name: 'kept' });
      for (const { id } of dropped) await expect(hf.tasks.get(id)).rejects.toThrow(NotFound);
    });
  });

  it('refuses what is no transaction', async () => {
    const hf = await open();
    await expect(hf.dispatch('x', null, { tx: {} as never })).rejects.toThrow('tx must be a transaction');
  });
});

describe('dispatchMany', () => {
  it('stores thousands in the order given', async () => {
    const hf = await open();
    const tasks = await hf.dispatchMany(Array.from({ length: 2_500 }, (_, n) => ({ task: 'x', payload: n })));
    expect(tasks.map(({ payload }) => payload)).toEqual(Array.from({ length: 2_500 }, (_, n) => n));
    const places = await withClient((client) =>
      client.query(`SELECT payload FROM "${namespace}".tasks ORDER BY place`),
    );
    expect(places.rows.map(({ payload }: { payload: unknown }) => payload)).toEqual(
      tasks.map(({ payload }) => payload),
    );
    expect((await hf.tasks.get(tasks[2_400]?.id ?? '')).payload).toBe(2_400);
  });

  it('stores none where one is refused, and names it', async () => {
    const hf = await open();
    const requests = [{ task: 'x' }, { task: 'x', exclusive: [''] }];
    await expect(hf.dispatchMany(requests)).rejects.toThrow('Number 1 of the list');
    await expect(hf.dispatchMany([{ payload: 1 } as never])).rejects.toThrow('either "task" or "name"');
    expect(await hf.tasks.list()).toEqual({ tasks: [], next: null });
  });

  it('takes an empty list', async () => {
    const hf = await open();
    expect(await hf.dispatchMany([])).toEqual([]);
  });
});

describe('lists of tasks', () => {
  it('pages through tasks, newest first, by state and name', async () => {
    const hf = await open();
    const dispatched = await hf.dispatchMany(['a', 'b', 'a', 'a'].map((task) => ({ task })));
    const ids = dispatched.map(({ id }) => id).toReversed();
    const first = await hf.tasks.list({ limit: 3 });
    expect(first.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(first.tasks[0]).not.toHaveProperty('payload');
    const second = await hf.tasks.list({ limit: 3, after: first.next });
    expect(second).toMatchObject({ tasks: [{ id: ids[3] }], next: null });
    expect((await hf.tasks.list({ name: 'b' })).tasks).toHaveLength(1);
    expect((await hf.tasks.list({ state: ['running', 'failed'] })).tasks).toEqual([]);
    expect((await hf.tasks.list({ state: 'waiting' })).tasks).toHaveLength(4);
  });

  it.each([
    [{ limit: 0 }, 'limit must be'],
    [{ limit: 1_001 }, 'limit must be'],
    [{ after: 'x' }, 'cursor must be the id'],
    [{ state: 'wating' as 'waiting' }, 'Did you mean "waiting"?'],
    [{ nam: 'x' }, 'Did you mean "name"?'],
  ])('refuses %o', async (options, message) => {
    const hf = await open();
    await expect(hf.tasks.list(options as TaskListOptions)).rejects.toThrow(message);
  });

  it('finds no task by what is no id', async () => {
    const hf = await open();
    await expect(hf.tasks.get('x')).rejects.toThrow(NotFound);
    await expect(hf.wait('00000000-0000-7000-8000-000000000000')).rejects.toThrow(NotFound);
  });
});

describe('a Holdfast', () => {
  it('refuses another lock table than that of its namespace', async () => {
    const first = await open();
    await first.dispatch('x');
    const other = await open({ migrate: false, redis: 'memory:' });
    await expect(other.dispatch('x')).rejects.toThrow(WrongTable);
  });

  it('is of no use after it is closed, and can be closed again', async () => {
    const hf = await open();
    await hf.close();
    await hf.close();
    await expect(hf.dispatch('x')).rejects.toThrow(Unavailable);
    await expect(hf.migrate()).rejects.toThrow('closed');
  });

  it('ends waits when it is closed', async () => {
    const hf = await open();
    const { id } = await hf.dispatch('x');
    const waiting = expect(hf.wait(id)).rejects.toThrow('closed while');
    // By then the wait has read its row, too.
    for (let times = 0; times < 2; times += 1) await hf.tasks.get(id);
    await hf.close();
    await waiting;
  });
});

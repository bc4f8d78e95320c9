import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Holdfast } from '../holdfast.js';
import {
  dropNamespace,
  sharedPostgresUrl,
  sharedRedisUrl,
  uniqueNamespace,
} from '../../test/helpers/servers.js';
import { waitUntil } from '../../test/helpers/wait-until.js';
import { latch } from '../../test/worker/latch.js';
import { createHoldfast } from '../holdfast.js';
import { defineTask } from '../tasks/definition.js';

let namespace: string;
let hf: Holdfast;
let gate = latch();

const held = defineTask({ name: 'held', run: () => gate.opened });
const quick = defineTask({ name: 'quick', run: () => 'done' });
const parent = defineTask({
  name: 'parent',
  run: async (_, { dispatch }) => {
    const options = { uniqueKey: 'nested', queue: 'nobody' };
    const first = await dispatch('x', 1, options);
    const second = await dispatch('x', 2, options);
    return [first.id, second.id, second.payload];
  },
});

beforeEach(async () => {
  namespace = uniqueNamespace();
  gate = latch();
  const servers = { database: sharedPostgresUrl(), redis: sharedRedisUrl(), namespace };
  hf = await createHoldfast({ ...servers, migrate: true, tasks: [held, quick, parent] });
});
afterEach(async () => {
  gate.open();
  await hf.close();
  await dropNamespace(namespace);
});

test('dispatch answers with the task that is there', async () => {
  const first = await hf.dispatch('x', { n: 1 }, { uniqueKey: 'k' });
  const second = await hf.dispatch('x', { n: 2 }, { uniqueKey: 'k' });
  expect(second).toEqual(first);
  expect(await hf.tasks.get(first.id)).toMatchObject({ ...first, uniqueKey: 'k' });
  expect((await hf.tasks.list()).tasks).toMatchObject([{ id: first.id, uniqueKey: 'k' }]);
});

test('dispatchMany tells what became of each', async () => {
  const request = { task: 'x', uniqueKey: 'k' };
  const [first, second] = await hf.dispatchMany([request, request]);
  expect(second?.id).toBe(first?.id);
  const replacing = { ...request, uniqueMode: 'replace' as const };
  const [third, fourth] = await hf.dispatchMany([replacing, replacing]);
  expect([third?.state, fourth?.state]).toEqual(['canceled', 'waiting']);
  expect(await hf.tasks.get(first?.id ?? '')).toMatchObject({ state: 'canceled' });
});

test('in more than one statement it is still one transaction', async () => {
  const requests = Array.from({ length: 2_500 }, (_, n) => ({ task: 'x', uniqueKey: `k${n % 1_500}` }));
  const tasks = await hf.dispatchMany(requests);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1_500);
  expect(tasks.slice(1_500).map(({ id }) => id)).toEqual(tasks.slice(0, 1_000).map(({ id }) => id));
});

test("in the caller's transaction the key is free again when that rolls back", async () => {
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  try {
    await client.query('BEGIN');
    const lost = await hf.dispatch('x', null, { uniqueKey: 'k', tx: client });
    expect(await hf.dispatch('x', null, { uniqueKey: 'k', tx: client })).toEqual(lost);
    await client.query('ROLLBACK');
    const kept = await hf.dispatch('x', null, { uniqueKey: 'k' });
    expect(kept.id).not.toBe(lost.id);
    await client.query('BEGIN');
    const replacing = await hf.dispatch('x', null, { uniqueKey: 'k', uniqueMode: 'replace', tx: client });
    expect((await hf.tasks.get(kept.id)).state).toBe('waiting');
    await client.query('COMMIT');
    expect((await hf.tasks.get(kept.id)).state).toBe('canceled');
    expect((await hf.tasks.get(replacing.id)).state).toBe('waiting');
  } finally {
    await client.end();
  }
});

test('a task that is replaced while it queues lets those behind it go on', async () => {
  const worker = hf.createWorker({ name: 'w' });
  const running = worker.run();
  const first = await hf.dispatch(held, null, { exclusive: ['r'], uniqueKey: 'k' });
  const queued = await hf.dispatch(quick, null, { exclusive: ['r', 'free'], uniqueKey: 'q' });
  const behind = await hf.dispatch(quick, null, { exclusive: ['free'] });
  const waits = async (): Promise<boolean> =>
    (await hf.locks.list({ resource: 'free' })).locks[0]?.waiting[0]?.task === behind.id;
  await waitUntil(waits, 'the last one waits behind the one that waits');
  const replacing = await hf.dispatch(quick, null, { uniqueKey: 'q', uniqueMode: 'replace' });
  for (const { id } of [behind, replacing]) {
    expect(await hf.wait(id, { timeout: '20s' })).toMatchObject({ state: 'completed' });
  }
  expect((await hf.tasks.get(queued.id)).state).toBe('canceled');
  const kept = await hf.dispatch(held, null, { uniqueKey: 'k', uniqueMode: 'replace' });
  expect(kept).toMatchObject({ id: first.id, state: 'running' });
  gate.open();
  await hf.wait(first.id, { timeout: '20s' });
  expect((await hf.dispatch(held, null, { uniqueKey: 'k' })).id).not.toBe(first.id);
  await worker.stop();
  await running;
});

test('a handler is answered the same', async () => {
  const worker = hf.createWorker({ name: 'w' });
  const running = worker.run();
  const { id } = await hf.dispatch(parent, null);
  const { result } = await hf.wait(id, { timeout: '30s' });
  const [first, second, payload] = result as [string, string, unknown];
  expect([second, payload]).toEqual([first, 1]);
  expect(await hf.tasks.get(first)).toMatchObject({ parent: id, uniqueKey: 'nested' });
  await worker.stop();
  await running;
});

test('a retry of a task whose key is in use is refused', async () => {
  const first = await hf.dispatch('x', null, { uniqueKey: 'k' });
  await hf.tasks.cancel(first.id);
  const second = await hf.dispatch('x', null, { uniqueKey: 'k' });
  await expect(hf.tasks.retry(first.id)).rejects.toMatchObject({
    code: 'WrongState',
    message: expect.stringContaining('another one has its unique key "k"') as string,
  });
  expect(await hf.tasks.retry({ state: 'canceled' })).toEqual({ retried: 0, refused: 1 });
  await hf.tasks.cancel(second.id);
  expect(await hf.tasks.retry(first.id)).toMatchObject({ state: 'waiting', uniqueKey: 'k' });
});

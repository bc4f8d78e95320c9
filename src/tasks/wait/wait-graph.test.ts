import { beforeEach, expect, test } from 'vitest';
import type { EnteringHold, LockTable } from '../../locks/lock-table.js';
import type { WaitEdges } from '../../store/store.js';
import { createMemoryLockTable } from '../../locks/memory/memory-lock-table.js';
import { type Circle, waitsForHandler } from './wait-graph.js';

const owner = { name: 'w', incarnation: '1' };

let table: LockTable;
let rows: Map<string, WaitEdges>;

beforeEach(async () => {
  table = createMemoryLockTable({ namespace: 'graph' });
  await table.beginEpoch('1', 1);
  await table.openEpoch('1');
  await table.listOwner('1', owner);
  rows = new Map();
});

interface Wanted {
  exclusive?: string[];
  shared?: string[];
}

function row(id: string, state: WaitEdges['state'], { exclusive = [], shared = [] }: Wanted): EnteringHold {
  rows.set(id, {
    ...{ id, entry: 1, state, exclusive, shared },
    ...{ parent: null, lock: false, requests: [] },
  });
  return { task: id, entry: 1, lane: 'lane', priority: 0, place: '1', exclusive, shared };
}

async function holds(id: string, wanted: Wanted): Promise<void> {
  const answers = await table.enterNow('1', owner, [row(id, 'running', wanted)]);
  expect(answers).toMatchObject([{ status: 'owned' }]);
}

async function queues(id: string, wanted: Wanted): Promise<void> {
  const answers = await table.enter('1', '1', [row(id, 'waiting', wanted)]);
  expect(answers).toEqual([{ status: 'entered', granted: false }]);
}

async function waitsForAsker(waiter: string): Promise<boolean> {
  return (await circle(waiter)) !== null;
}

function circle(waiter: string): Promise<Circle | null> {
  const store = {
    readNamespace: () => Promise.reject(new Error('not asked for')),
    waitEdges: async (ids: string[]) => ids.flatMap((id) => rows.get(id) ?? []),
  };
  return waitsForHandler({ store, table }, waiter, 'asker');
}

test('a reader does not wait for the readers before it, only for the writers', async () => {
  await holds('asker', { exclusive: ['q'] });
  await holds('other', { exclusive: ['r'] });
  await queues('writer', { exclusive: ['r'] });
  await queues('first', { exclusive: ['q'], shared: ['r'] });
  await queues('second', { shared: ['r'] });
  expect(await waitsForAsker('first')).toBe(true);
  expect(await waitsForAsker('second')).toBe(false);
});

test('nobody waits for those behind', async () => {
  await holds('asker', { exclusive: ['q'] });
  await holds('other', { exclusive: ['r'] });
  await queues('first', { exclusive: ['r'] });
  await queues('second', { exclusive: ['q', 'r'] });
  await queues('third', { exclusive: ['r'] });
  expect(await waitsForAsker('first')).toBe(false);
  expect(await waitsForAsker('third')).toBe(true);
});

test('a writer waits for all readers that hold, and a reader for none of them', async () => {
  await holds('asker', { shared: ['r'] });
  await holds('other', { exclusive: ['q'] });
  await queues('reader', { shared: ['r'], exclusive: ['q'] });
  await queues('writer', { exclusive: ['r'] });
  expect(await waitsForAsker('reader')).toBe(false);
  expect(await waitsForAsker('writer')).toBe(true);
});

test('what has not been admitted yet will come in behind all others', async () => {
  await holds('asker', { exclusive: ['q'] });
  row('new', 'waiting', { exclusive: ['q'] });
  row('elsewhere', 'waiting', { shared: ['r'] });
  expect(await waitsForAsker('new')).toBe(true);
  expect(await waitsForAsker('elsewhere')).toBe(false);
});

test('the first resource in the circle is told', async () => {
  await holds('asker', { exclusive: ['q'] });
  await holds('other', { exclusive: ['p'] });
  await queues('first', { exclusive: ['q', 'r'] });
  await queues('second', { exclusive: ['p', 'r'] });
  expect(await circle('first')).toEqual({ resource: 'q' });
  expect(await circle('second')).toEqual({ resource: 'r' });
  expect(await circle('asker')).toEqual({ resource: null });
});

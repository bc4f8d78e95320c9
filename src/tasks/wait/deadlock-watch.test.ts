import { expect, test } from 'vitest';
import type { WaitEdges } from '../../store/store.js';
import type { WaitGraphPorts } from './wait-graph.js';
import { Unavailable } from '../../errors.js';
import { createMemoryLockTable } from '../../locks/memory/memory-lock-table.js';
import { noteWait } from '../../handler-context.js';
import { refuseDeadlock } from './deadlock-watch.js';

const table = createMemoryLockTable({ namespace: 'deadlocks' });

/** Held by somebody, for the handler of `parent` if there is one. */
function heldFor(parent: string | null): Omit<WaitEdges, 'id'> {
  return { entry: 1, state: 'running', exclusive: [], shared: [], parent, lock: true, requests: [] };
}

/** Each look reads the edges once for each step of the chain. */
function reading(looks: (looked: number, ids: string[]) => Omit<WaitEdges, 'id'>): WaitGraphPorts {
  let looked = 0;
  const waitEdges = async (ids: string[]): Promise<WaitEdges[]> => {
    looked += 1;
    return ids.map((id) => ({ id, ...looks(looked, ids) }));
  };
  return { table, store: { readNamespace: () => Promise.reject(new Error('not asked for')), waitEdges } };
}

const wait = { waiter: 'lock', asker: 'task' };

test('a circle that closes later is found', async () => {
  const ports = reading((looked) => heldFor(looked < 4 ? null : 'task'));
  await expect(refuseDeadlock(ports, wait, new AbortController().signal)).rejects.toMatchObject({
    code: 'WouldDeadlock',
  });
});

test('the resource is named where it is known', async () => {
  await table.beginEpoch('1', 1);
  await table.openEpoch('1');
  await table.listOwner('1', { name: 'w', incarnation: '1' });
  const hold = {
    task: 'task',
    entry: 1,
    lane: 'lane',
    priority: 0,
    place: '1',
    exclusive: ['r'],
    shared: [],
  };
  await table.enterNow('1', { name: 'w', incarnation: '1' }, [hold]);
  const ports = reading(() => ({ ...heldFor(null), state: 'waiting', exclusive: ['r'] }));
  await expect(refuseDeadlock(ports, wait, new AbortController().signal)).rejects.toThrow(
    'Task task would wait for lock, which waits for resource "r" and so for task task itself',
  );
});

test('what is found once and not again is none', async () => {
  const over = new AbortController();
  const ports = reading((looked) => {
    if (looked > 6) over.abort();
    return heldFor(looked === 1 ? 'task' : null);
  });
  await refuseDeadlock(ports, wait, over.signal);
});

test('an outage finds nothing, and is outlived', async () => {
  const ports = reading((looked) => {
    if (looked < 4) throw new Unavailable('No answer.');
    return heldFor('task');
  });
  await expect(refuseDeadlock(ports, wait, new AbortController().signal)).rejects.toMatchObject({
    code: 'WouldDeadlock',
  });
});

test('what a handler waits for in this process is followed, as long as it waits', async () => {
  const over = new AbortController();
  let looks = 0;
  const ports = reading((_looked, ids) => {
    looks += 1;
    if (looks > 6) over.abort();
    return heldFor(ids.includes('lock') ? 'other' : null);
  });
  const first = noteWait('other', 'more');
  const second = noteWait('other', 'task');
  await expect(refuseDeadlock(ports, wait, over.signal)).rejects.toMatchObject({ code: 'WouldDeadlock' });
  second();
  await refuseDeadlock(ports, wait, over.signal);
  first();
});

test('one who waits for itself is refused', async () => {
  const ports = reading(() => heldFor(null));
  const itself = { waiter: 'task', asker: 'task' };
  await expect(refuseDeadlock(ports, itself, new AbortController().signal)).rejects.toMatchObject({
    code: 'WouldDeadlock',
  });
});

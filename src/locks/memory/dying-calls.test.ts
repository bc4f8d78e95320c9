import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseOwner } from '../../owner.js';
import { brokenInvariants } from '../invariants.js';
import type { TableDump } from '../table-dump.js';
import { lanes, operation, owners } from '../property/operations.property.js';
import { resolve, type Story } from '../property/resolve.property.js';
import { createMemoryLockTable, type MemoryLockTable } from './memory-lock-table.js';

class Died extends Error {}

/** Which write of a step is its last; null where it lives. */
const death = fc.option(fc.nat({ max: 25 }), { freq: 2 });
const steps = fc.array(fc.tuple(operation, death), { maxLength: 50, size: 'max' });

test('calls that die at any write grant nothing twice, and what repairs them loses nothing', async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const table = createMemoryLockTable({ namespace: 'holdfast', promotionLimit: 2 });
    const story = await begin(table);
    for (const [operation, write] of sequence) {
      // A rebuilder that dies never opens its epoch, so there is nothing to repair.
      if (operation.do === 'newEpoch' || operation.do === 'otherEpoch') continue;
      await dieAt(table, write, resolve(operation, story));
      look(table, story);
      expect(brokenInvariants(story.before, { unrepaired: true })).toEqual([]);
    }
    await repair(table, story);
    expect(brokenInvariants(story.before)).toEqual([]);
    await drain(table, story);
  });
  await fc.assert(property, { numRuns: 300, interruptAfterTimeLimit: 60_000 });
}, 120_000);

async function begin(table: MemoryLockTable): Promise<Story> {
  await table.beginEpoch('5', 1);
  await table.openEpoch('5');
  for (const owner of owners) await table.listOwner('5', owner);
  return {
    ...{ epoch: '5', pass: 1, lanesVersion: null, lastFence: '', entries: new Map(), lastMoves: [] },
    before: dumped(table),
  };
}

async function dieAt(
  table: MemoryLockTable,
  write: number | null,
  step: (table: MemoryLockTable) => Promise<unknown>,
): Promise<void> {
  let left = write ?? Infinity;
  table.state.beforeWrite = () => {
    if (left-- <= 0) throw new Died();
  };
  try {
    await step(table);
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  } finally {
    table.state.beforeWrite = null;
  }
}

/** What callers do in the end: each repeats what died, or the sweep of its owner does it. */
async function repair(table: MemoryLockTable, story: Story): Promise<void> {
  for (const { task, entry, status, owner } of story.before.holds) {
    if (status !== 'entering') continue;
    if (owner === null) await table.takeOut('5', [{ task, entry }]);
    else await table.release('5', [{ task, entry, owner: parseOwner(owner) }]);
  }
  for (const owner of owners) {
    for (const { task, entry } of await table.readRegistry('5', owner, { after: null, limit: 100 })) {
      if (entry === null) await table.release('5', [{ task, entry: 0, owner }]);
    }
  }
  // A claim drops what is ready and not granted.
  for (const owner of owners) await table.listOwner('5', owner);
  await table.claim('5', { owner: owners[0]!, lanes, limit: 100, lanesVersion: null });
  look(table, story);
}

async function drain(table: MemoryLockTable, story: Story): Promise<void> {
  for (let round = 0; round < 100 && story.before.holds.length > 0; round++) {
    const owner = owners[0]!;
    await table.claim('5', { owner, lanes, limit: 2, lanesVersion: null });
    look(table, story);
    for (const { task, entry, owner } of story.before.holds) {
      if (owner !== null) await table.release('5', [{ task, entry, owner: parseOwner(owner) }]);
    }
    look(table, story);
  }
  await table.claim('5', { owner: owners[0]!, lanes, limit: 100, lanesVersion: null });
  look(table, story);
  expect(story.before.holds).toEqual([]);
  expect(brokenInvariants(story.before)).toEqual([]);
}

function look(table: MemoryLockTable, story: Story): void {
  story.before = dumped(table);
}

function dumped(table: MemoryLockTable): TableDump {
  const dump = table.dumpState('5');
  if (dump === null) throw new Error('The epoch is gone.');
  return dump;
}

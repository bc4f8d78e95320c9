import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, hold, lane, TableInEpoch } from '../conformance/harness.conformance.js';
import type { Owner } from '../../owner.js';
import { brokenInvariants } from '../invariants.js';
import type { ClaimAnswer } from '../lock-table.js';
import { openMemory, type OpenMemoryTable } from './open-memory.conformance.js';

type Act = (current: TableInEpoch) => Promise<unknown>;

const readers = ['r1', 'r2', 'r3'].map((task) => hold(task, { shared: ['a'], lane: task }));
const owned = { task: 't1', entry: 1, owner: ada };
const both = { exclusive: ['a'], shared: ['b'] };

/** What goes before, the operation that dies, and the one that repairs it (itself where none is given). */
const operations: Record<string, { before: Act; dies: Act; repairs?: Act }> = {
  'enter, free': {
    before: async () => {},
    dies: (current) => current.enter(hold('t1', { ...both, place: '1' })),
  },
  'enter, queued': {
    before: (current) => current.enter(hold('w', { exclusive: ['a'] })),
    dies: (current) => current.enter(hold('t1', { ...both, place: '1' })),
  },
  'enter, taken out instead': {
    before: (current) => current.enter(hold('w', { exclusive: ['a'] })),
    dies: (current) => current.enter(hold('t1', { ...both, place: '1' })),
    repairs: (current) => current.table.takeOut(epoch, [owned]),
  },
  enterNow: {
    before: async () => {},
    dies: (current) => current.table.enterNow(epoch, ada, [hold('t1', both)]),
    repairs: (current) => current.table.release(epoch, [owned]),
  },
  claim: {
    before: (current) => current.enter(hold('t1', both)),
    dies: (current) => current.claim(ada),
  },
  move: {
    before: async (current) => {
      await current.enter(hold('t1', both));
      await current.claim(ada);
    },
    dies: (current) => current.table.move(epoch, [{ ...owned, nextEntry: 2 }]),
  },
  release: {
    before: async (current) => {
      await current.enter(hold('t1', both), ...readers, hold('w', { exclusive: ['b'] }));
      await current.claim(ada);
    },
    dies: (current) => current.table.release(epoch, [owned]),
  },
  'release, ended by a move': {
    before: async (current) => {
      await current.enter(hold('t1', both), ...readers, hold('w', { exclusive: ['b'] }));
      await current.claim(ada);
    },
    dies: (current) => current.table.release(epoch, [owned]),
    repairs: (current) => current.table.move(epoch, [{ ...owned, nextEntry: 2 }]),
  },
  'takeOut, granted': {
    before: (current) => current.enter(hold('t1', both), ...readers),
    dies: (current) => current.table.takeOut(epoch, [owned]),
  },
  'takeOut, queued, entered instead': {
    before: (current) => current.enter(hold('w', { exclusive: ['a'] }), hold('t1', both), ...readers),
    dies: (current) => current.table.takeOut(epoch, [owned]),
    repairs: (current) => current.enter(hold('t1', both)),
  },
};

const lanes = [lane, 'r1', 'r2', 'r3'];

class Died extends Error {}

/** Runs it until it dies before its n-th write. Returns whether it ended alive. */
async function endsAlive(
  under: OpenMemoryTable,
  write: number,
  act: () => Promise<unknown>,
): Promise<boolean> {
  let left = write;
  under.memory.state.beforeWrite = () => {
    if (left-- <= 0) throw new Died();
  };
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof Died) return false;
    throw error;
  } finally {
    under.memory.state.beforeWrite = null;
  }
}

interface KnownLanes {
  lanesVersion: string;
  lanes: string[];
}

/** What a worker knows of the lanes that asks now, and knew the ones before: always the lanes there are. */
async function lanesTold(current: TableInEpoch, known: KnownLanes | null): Promise<KnownLanes> {
  const request = { owner: bob, lanes: [], limit: 0, lanesVersion: known?.lanesVersion ?? null };
  const answer = (await current.table.claim(epoch, request)) as ClaimAnswer;
  const told = { lanesVersion: answer.lanesVersion, lanes: answer.lanes ?? known?.lanes ?? [] };
  expect(told.lanes).toEqual((await current.dump()).lanes);
  return told;
}

/** As a worker does at its beat: what its registry names and nobody of it owns is released, which drops it. */
async function dropUnowned({ table }: TableInEpoch, owner: Owner): Promise<void> {
  for (const { task, entry } of await table.readRegistry(epoch, owner, { after: null, limit: 9 })) {
    if (entry === null) await table.release(epoch, [{ task, entry: 1, owner }]);
  }
}

describe.each([
  ['repaired at once', false],
  ['repaired after others went on', true],
])('a call that dies, %s', (_, othersFirst) => {
  test.each(Object.entries(operations))('%s, at any write', async (_, { before, dies, repairs }) => {
    let write = 0;
    for (let ended = false; !ended; write++) {
      const under = await openMemory({ promotionLimit: 2 });
      const current = await new TableInEpoch(under).begin();
      await before(current);
      let known = await lanesTold(current, null);
      ended = await endsAlive(under, write, () => dies(current));
      known = await lanesTold(current, known);
      expect(brokenInvariants(await current.dump(), { unrepaired: true })).toEqual([]);
      if (othersFirst) await current.release(bob, ...(await current.claimTasks(bob, 9, lanes)));
      await (repairs ?? dies)(current);
      await lanesTold(current, known);
      await dropUnowned(current, ada);
      // What a claim that died left ready, or a lane that it left listed, is for the next claim of the lane.
      await current.claim(bob, 9, lanes);
      await current.table.continuePromotions(epoch);
      await current.expectSound();
    }
    expect(write).toBeGreaterThan(4);
  });
});

import { expect, test } from 'vitest';
import { ada, bob, epoch, hold, lane, TableInEpoch } from '../conformance/harness.conformance.js';
import { brokenInvariants } from '../invariants.js';
import { openMemory } from './open-memory.conformance.js';

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

class Died extends Error {}

test.each(Object.entries(operations))(
  '%s: dead at any write, it is repaired',
  async (_, { before, dies, repairs }) => {
    let write = 0;
    for (let ended = false; !ended; write++) {
      const under = await openMemory({ promotionLimit: 2 });
      const current = await new TableInEpoch(under).begin();
      await before(current);
      let left = write;
      under.memory.state.beforeWrite = () => {
        if (left-- <= 0) throw new Died();
      };
      ended = await dies(current).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Died) return false;
          throw error;
        },
      );
      under.memory.state.beforeWrite = null;
      expect(brokenInvariants(await current.dump(), { unrepaired: true })).toEqual([]);
      await (repairs ?? dies)(current);
      // What a claim that died left ready, or a lane that it left listed, is for the next claim of the lane.
      await current.claim(bob, 9, [lane, 'r1', 'r2', 'r3']);
      await current.table.continuePromotions(epoch);
      await current.expectSound();
    }
    expect(write).toBeGreaterThan(4);
  },
);

import { ada, bob, buildingHold, epoch, hold, lane } from '../conformance/harness.conformance.js';
import type { EnteringHold, LockTable } from '../lock-table.js';

/** One call of one script that may die at any write. */
export interface Scenario {
  script: string;
  name: string;
  /** How many waiters a call promotes. */
  promotionLimit?: number;
  /** Brings the table to where the call starts. */
  setUp: (
    table: LockTable,
    forgeEntering: (task: string) => Promise<void>,
    forgeLost: (task: string) => Promise<void>,
  ) => Promise<unknown>;
  step: (table: LockTable) => Promise<unknown>;
  /** What the script's header names. Afterwards the table is as if the call had lived. Default: the call again. */
  repair?: (table: LockTable) => Promise<unknown>;
}

const otherLane = 'another lane';

// Made once, so that a clean run and one that dies enter the very same holds.
const t1 = hold('t1', { exclusive: ['a', 'b'], shared: ['c'] });
const t2 = hold('t2', { exclusive: ['a'], shared: ['c'], lane: otherLane });
const t3 = hold('t3', { shared: ['a', 'd'] });
const t4 = hold('t4', { shared: ['a'], priority: 3 });
const t5 = hold('t5', { exclusive: ['d'] });
const all = [t1, t2, t3, t4, t5];
const readers = [1, 2, 3, 4, 5].map((n) => hold(`reader${n}`, { shared: ['a'] }));

const claimAda = (table: LockTable, limit = 100): Promise<unknown> =>
  table.claim(epoch, { owner: ada, lanes: [lane, otherLane], limit, lanesVersion: null });
const enter = (table: LockTable, ...holds: EnteringHold[]): Promise<unknown> =>
  table.enter(epoch, '1', holds);
const owned = (...tasks: string[]): { task: string; entry: number; owner: typeof ada }[] =>
  tasks.map((task) => ({ task, entry: 1, owner: ada }));
const later = (given: EnteringHold): EnteringHold => ({ ...given, entry: 2 });

/** What an owner does that was not told what it got: it gives back all of it. */
async function giveBack(table: LockTable): Promise<void> {
  for (const { task, entry } of await table.readRegistry(epoch, ada, { after: null, limit: 100 })) {
    if (entry === null) await table.release(epoch, [{ task, entry: 0, owner: ada }]);
    else await table.move(epoch, [{ task, entry, owner: ada, nextEntry: entry + 1 }]);
  }
}

/** What the clean-up of an owner does: it knows only the registry. */
async function releaseAll(table: LockTable): Promise<void> {
  const registry = await table.readRegistry(epoch, ada, { after: null, limit: 100 });
  await table.release(
    epoch,
    registry.map(({ task, entry }) => ({ task, entry: entry ?? 0, owner: ada })),
  );
}

/** t1 is owned, t2 … t5 wait for it and for each other. */
async function oneOwnedRestQueued(table: LockTable): Promise<void> {
  await enter(table, t1);
  await claimAda(table);
  await enter(table, t2, t3, t4, t5);
}

const entering: Scenario[] = [
  {
    script: 'enter',
    name: 'free resources and queued ones, in two lanes',
    setUp: async () => {},
    step: (table) => enter(table, ...all),
  },
  {
    script: 'enter',
    name: 'no resources',
    setUp: async () => {},
    step: (table) => enter(table, hold('t9', { place: '9' })),
  },
  {
    script: 'enter',
    name: 'a later entry',
    setUp: oneOwnedRestQueued,
    step: (table) => enter(table, later(t1), later(t2)),
  },
  {
    script: 'enter',
    name: 'what an earlier one left half-way',
    setUp: async (table, forgeEntering) => {
      await enter(table, ...all);
      await forgeEntering('t1');
    },
    step: (table) => enter(table, t1),
  },
  {
    script: 'enter-now',
    name: 'two holds',
    setUp: async () => {},
    step: (table) => table.enterNow(epoch, ada, [t1, t5]),
    repair: async (table) => {
      await releaseAll(table);
      await table.enterNow(epoch, ada, [t1, t5]);
    },
  },
];

const running: Scenario[] = [
  {
    script: 'claim',
    name: 'the last of one lane and some of another',
    setUp: (table) =>
      enter(table, t1, hold('t6', { lane: otherLane, place: '1' }), t5, hold('t7', { place: '999' })),
    step: (table) => claimAda(table, 3),
    repair: async (table) => {
      await giveBack(table);
      await claimAda(table, 3);
    },
  },
  {
    script: 'claim',
    name: 'what marks promise',
    promotionLimit: 2,
    setUp: async (table) => {
      await enter(table, t1, ...readers.slice(1));
      await claimAda(table);
      await table.release(epoch, owned('t1'));
    },
    step: (table) => claimAda(table),
    repair: async (table) => {
      await giveBack(table);
      await claimAda(table);
    },
  },
  {
    script: 'move',
    name: 'two holds, one of them busy',
    setUp: async (table) => {
      await enter(table, t1, t5);
      await claimAda(table);
      await enter(table, t2, later(t5));
    },
    step: (table) =>
      table.move(
        epoch,
        owned('t1', 't5').map((one) => ({ ...one, nextEntry: 2 })),
      ),
  },
  {
    script: 'move',
    name: 'what a release left half-way',
    setUp: async (table, forgeEntering) => {
      await oneOwnedRestQueued(table);
      await forgeEntering('t1');
    },
    step: (table) =>
      table.move(
        epoch,
        owned('t1').map((one) => ({ ...one, nextEntry: 2 })),
      ),
  },
];

const ending: Scenario[] = [
  {
    script: 'release',
    name: 'to a writer, and to readers behind it',
    setUp: oneOwnedRestQueued,
    step: (table) => table.release(epoch, owned('t1')),
  },
  {
    script: 'release',
    name: 'two holds, one of them busy, and one that is gone',
    setUp: async (table) => {
      await enter(table, t1, t5);
      await claimAda(table);
      await enter(table, t2, t3, later(t5));
    },
    step: (table) => table.release(epoch, owned('t1', 'gone', 't5')),
  },
  {
    script: 'release',
    name: 'to more readers than one call promotes',
    promotionLimit: 2,
    setUp: async (table) => {
      await enter(table, t1, ...readers);
      await claimAda(table);
    },
    step: (table) => table.release(epoch, owned('t1')),
    repair: async (table) => {
      await table.release(epoch, owned('t1'));
      await drainMarks(table);
    },
  },
  {
    script: 'take-out',
    name: 'a queued hold that others wait behind',
    setUp: oneOwnedRestQueued,
    step: (table) => table.takeOut(epoch, [{ task: 't3', entry: 1 }]),
  },
  {
    script: 'take-out',
    name: 'granted holds, one of them the last of its lane',
    setUp: (table) => enter(table, hold('t6', { exclusive: ['c'], lane: otherLane, place: '1' }), ...all),
    step: (table) =>
      table.takeOut(epoch, [
        { task: 't6', entry: 1 },
        { task: 't1', entry: 1 },
      ]),
  },
  {
    script: 'continue-promotions',
    name: 'to the end of the queue',
    promotionLimit: 2,
    setUp: async (table) => {
      await enter(table, t1, ...readers);
      await claimAda(table);
      await table.release(epoch, owned('t1'));
    },
    step: (table) => table.continuePromotions(epoch),
    repair: drainMarks,
  },
];

const rebuilding: Scenario[] = [
  {
    script: 'begin-epoch',
    name: 'a new epoch',
    setUp: async () => {},
    step: (table) => table.beginEpoch('8', 1),
  },
  {
    script: 'open-epoch',
    name: 'a built epoch',
    setUp: (table) => table.beginEpoch('8', 1),
    step: (table) => table.openEpoch('8'),
  },
  {
    script: 'enter-building',
    name: 'an owned hold and a granted one',
    setUp: (table) => table.beginEpoch('8', 1),
    step: (table) =>
      table.enterBuilding('8', [
        buildingHold('t1', { exclusive: ['a', 'b'], shared: ['c'], owner: bob, fence: '77', place: '1' }),
        buildingHold('t2', { shared: ['c', 'd'], place: '2' }),
      ]),
  },
];

const others: Scenario[] = [
  {
    script: 'list-owner',
    name: 'a new owner',
    setUp: async () => {},
    step: (table) => table.listOwner(epoch, { name: 'eve', incarnation: '3' }),
  },
  {
    script: 'unlist-owner',
    name: 'an owner',
    setUp: async () => {},
    step: (table) => table.unlistOwner(epoch, bob),
  },
  { script: 'wake', name: 'admission', setUp: async () => {}, step: (table) => table.wakeAdmission() },
];

const auditing: Scenario[] = [
  {
    script: 'mend-faults',
    name: 'a queue, a lane and waits without holds',
    setUp: async (table, _, forgeLost) => {
      await oneOwnedRestQueued(table);
      await enter(table, hold('t6', { place: '6', lane: otherLane }));
      for (const task of ['t4', 't6']) await forgeLost(task);
    },
    step: async (table) => {
      const places = [
        { place: 'queue', name: 'a' },
        { place: 'ready', name: otherLane },
        { place: 'waits', name: 't4' },
      ] as const;
      const pages = await Promise.all(
        places.map((each) => table.findFaults(epoch, { ...each, cursor: null })),
      );
      await table.mendFaults(
        epoch,
        pages.flatMap(({ faults }) => faults),
      );
      // A lane that a death left listed is unlisted by its next claim.
      await table.claim(epoch, { owner: bob, lanes: [otherLane], limit: 0, lanesVersion: null });
    },
  },
  {
    script: 'register-holds',
    name: 'a hold that is registered already',
    setUp: oneOwnedRestQueued,
    step: (table) => table.registerHolds(epoch, owned('t1')),
  },
];

/** A call that dies promotes fewer than its budget, so the repaired table may be further than a clean run. */
async function drainMarks(table: LockTable): Promise<void> {
  while ((await table.continuePromotions(epoch)) > 0);
}

export const scenarios: Scenario[] = [
  ...entering,
  ...running,
  ...ending,
  ...rebuilding,
  ...others,
  ...auditing,
];

import { parseOwner, type Owner } from '../../owner.js';
import type { EnteringHold, LockTable } from '../lock-table.js';
import type { HoldDump, TableDump } from '../table-dump.js';
import { look } from './look.property.js';
import {
  lanes,
  owners,
  resources,
  tasks,
  type EnterOne,
  type HoldOperation,
  type Operation,
  type OtherOperation,
  type Pick,
} from './operations.property.js';

/** One step made concrete: the same call for every table, and what of its answer counts. */
export type Step = (table: LockTable) => Promise<unknown>;

/** What a sequence remembers between its steps. */
export interface Story {
  epoch: string;
  pass: number;
  lanesVersion: string | null;
  lastFence: string;
  /** The last entry that each task had. */
  entries: Map<string, number>;
  lastMoves: { task: string; entry: number; nextEntry: number; owner: Owner }[];
  before: TableDump;
}

export function resolve(operation: Operation, story: Story): Step {
  return isOfHolds(operation) ? resolveHolds(operation, story) : resolveOther(operation, story);
}

function resolveHolds(operation: HoldOperation, story: Story): Step {
  const { epoch, before } = story;
  switch (operation.do) {
    case 'enter': {
      const holds = operation.holds.map((one) => entering(one, story));
      const pass = operation.olderPass ? story.pass - 1 : (story.pass += 1);
      return (table) => table.enter(epoch, String(pass), holds);
    }
    case 'enterNow': {
      const holds = operation.holds.map((one) => entering(one, story));
      return (table) => table.enterNow(epoch, at(owners, operation.owner), holds);
    }
    case 'claim': {
      const lanesVersion = operation.knows ? story.lanesVersion : null;
      const request = {
        owner: at(owners, operation.owner),
        lanes: names(lanes, operation.lanes),
        lanesVersion,
      };
      return (table) => table.claim(epoch, { ...request, limit: operation.limit });
    }
    case 'move': {
      const owned = before.holds.filter(({ owner }) => owner !== null);
      story.lastMoves = pickedOwned(operation.picks, owned).map((item) => ({
        ...item,
        nextEntry: item.entry + 1,
      }));
      for (const { task, nextEntry } of story.lastMoves) story.entries.set(task, nextEntry);
      const moves = story.lastMoves;
      return (table) => table.move(epoch, moves);
    }
    case 'repeatMove': {
      const moves = story.lastMoves;
      return (table) => table.move(epoch, moves);
    }
    case 'release': {
      const owned = before.holds.filter(({ owner }) => owner !== null);
      const ofAll = owned.length === 0 || operation.ofAll;
      const holds = pickedOwned(operation.picks, ofAll ? before.holds : owned);
      return (table) => table.release(epoch, holds);
    }
    case 'takeOut': {
      const holds = picked(operation.picks, before.holds).map(({ task, entry }) => ({ task, entry }));
      if (operation.pass === null) return (table) => table.takeOut(epoch, holds);
      const pass = operation.pass === 'older' ? story.pass - 1 : (story.pass += 1);
      return (table) => table.takeOut(epoch, holds, String(pass));
    }
    case 'newEpoch':
    default:
      return nextEpoch(story);
  }
}

const ofHolds = new Set<string>([
  'enter',
  'enterNow',
  'claim',
  'move',
  'repeatMove',
  'release',
  'takeOut',
  'newEpoch',
]);

function isOfHolds(operation: Operation): operation is HoldOperation {
  return ofHolds.has(operation.do);
}

function resolveOther(operation: OtherOperation, { epoch, before }: Story): Step {
  switch (operation.do) {
    case 'mend': {
      // Nothing of a sound table is a fault, whoever says so.
      const faults = before.queues.flatMap(({ resource, waiters }) =>
        waiters.map(({ task, mode }) => {
          const member = (mode === 'exclusive' ? 'x' : 's') + task;
          return { place: 'queue' as const, name: resource, member, task, stalled: false };
        }),
      );
      const holds = pickedOwned(operation.picks, before.holds);
      return async (table) => [
        await table.mendFaults(epoch, faults),
        await table.registerHolds(epoch, holds),
      ];
    }
    case 'continuePromotions':
      return (table) => table.continuePromotions(epoch);
    case 'wakeAdmission':
      return (table) => table.wakeAdmission();
    case 'takeWakeUp': {
      const { signal } = new AbortController();
      return (table) => table.waitForWake(epoch, names(lanes, operation.lanes), 0, signal);
    }
    case 'otherEpoch':
      return (table) => table.takeOut('1', [{ task: 't', entry: 1 }]);
    case 'listOwner':
      return (table) => table.listOwner(epoch, at(owners, operation.owner));
    case 'unlistOwner':
      return (table) => table.unlistOwner(epoch, at(owners, operation.owner));
    case 'readRegistry': {
      const page = { after: textAfter(tasks, operation.after), limit: operation.limit };
      return (table) => table.readRegistry(epoch, at(owners, operation.owner), page);
    }
    case 'findOwners': {
      const { name } = at(owners, operation.owner);
      const texts = owners.map((owner) => `${owner.name}:${owner.incarnation}`);
      const page = { after: textAfter(texts, operation.after), limit: operation.limit };
      const by = operation.by === 'all' ? {} : { [operation.by]: name };
      return (table) => table.findOwners(epoch, { ...page, ...by });
    }
    case 'look':
    default:
      return (table) => look(table, epoch, operation.waitersEach);
  }
}

/** A rebuild: what ran is built into a new epoch, as far as its owner was not forgotten. */
function nextEpoch(story: Story): Step {
  const old = story.epoch;
  const epoch = String(BigInt(old) + 1n);
  const running = story.before.holds.filter(({ status }) => status === 'owned');
  Object.assign(story, { epoch, lanesVersion: null, pass: 1, lastMoves: [] });
  const holds = running.map((hold, nth) => ({
    ...hold,
    exclusive: [...hold.exclusive],
    owner: nth % 3 === 2 || hold.owner === null ? null : parseOwner(hold.owner),
  }));
  return async (table) => [
    await table.beginEpoch(epoch, 1),
    await table.beginEpoch(old, 1),
    await table.enterBuilding(epoch, holds),
    await table.enterBuilding(epoch, holds),
    await table.openEpoch(epoch),
    await table.unlinkEpochsBefore(epoch).then((count) => count > 0),
  ];
}

function entering(one: EnterOne, { entries, before }: Story): EnteringHold {
  const absent = tasks.filter((task) => !before.holds.some((hold) => hold.task === task));
  const among = one.fresh && absent.length > 0 ? absent : tasks;
  const task = at(among, one.task % among.length);
  const entry = Math.max(1, (entries.get(task) ?? 0) + one.later);
  entries.set(task, Math.max(entry, entries.get(task) ?? 1));
  return {
    task,
    entry,
    lane: at(lanes, one.lane),
    priority: one.priority,
    place: String(one.place),
    exclusive: names(resources, one.exclusive),
    shared: names(resources, one.shared),
  };
}

function picked(picks: Pick[], holds: HoldDump[]): HoldDump[] {
  if (holds.length === 0) return [];
  return picks.map(({ nth, wrongEntry }) => {
    const hold = at(holds, nth % holds.length);
    return { ...hold, entry: hold.entry + wrongEntry };
  });
}

function pickedOwned(picks: Pick[], holds: HoldDump[]): { task: string; entry: number; owner: Owner }[] {
  return picked(picks, holds).map(({ task, entry, owner }, index) => {
    const wrong = picks[index]?.wrongOwner === true || owner === null;
    return {
      task,
      entry,
      owner: wrong ? at(owners, (picks[index]?.nth ?? 0) % owners.length) : parseOwner(owner),
    };
  });
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`There is no item ${index}.`);
  return item;
}

function names(list: readonly string[], indexes: readonly number[]): string[] {
  return indexes.map((index) => at(list, index));
}

function textAfter(texts: readonly string[], index: number | null): string | null {
  return index === null ? null : at(texts, index % texts.length);
}

import { afterEach, beforeEach, expect } from 'vitest';
import { laneText } from '../../lane.js';
import type { Owner } from '../../owner.js';
import { brokenInvariants } from '../invariants.js';
import {
  EpochRefused,
  type BuildingHold,
  type ClaimedHold,
  type EnteringHold,
  type LockTable,
  type RefusalReason,
} from '../lock-table.js';
import type { TableDump } from '../table-dump.js';

/** A table under test, in a namespace of its own, that was started. */
export interface OpenLockTable {
  table: LockTable;
  /** The whole keyspace of the epoch in the record. */
  dump(epoch: string): Promise<TableDump>;
  /** Makes the epoch record name another server than the one that answers. */
  forgeIdentity(): Promise<void>;
  /** Sets the status of a hold back to `entering`, as a call leaves it that died before its last write. */
  forgeEntering(epoch: string, task: string): Promise<void>;
  /** Deletes one key, as nothing that is sound does: the hold of a task, a lock or a queue, a registry, a ready list. */
  forgeLoss(epoch: string, loss: Loss): Promise<void>;
  close(): Promise<void>;
}

export type Loss =
  | { hold: string }
  | { lock: string }
  | { queue: string }
  | { ready: string }
  | { registry: Owner };

export type OpenTable = (options: { promotionLimit?: number }) => Promise<OpenLockTable>;

export const epoch = '7';
export const lane: string = laneText({ queue: 'default', name: 'a.task', needs: {} });
export const ada: Owner = { name: 'ada', incarnation: '1' };
export const bob: Owner = { name: 'bob', incarnation: '2' };

let places = 100;

/** A hold to enter: the first of its task, in the one lane, behind all others. */
export function hold(task: string, given: Partial<EnteringHold> = {}): EnteringHold {
  places += 1;
  return { task, entry: 1, lane, priority: 0, place: String(places), exclusive: [], shared: [], ...given };
}

export function buildingHold(task: string, given: Partial<BuildingHold> = {}): BuildingHold {
  return { ...hold(task), owner: null, fence: null, ...given };
}

/** An open epoch with two listed owners. After the test the table must be sound. */
export class TableInEpoch {
  readonly under: OpenLockTable;
  readonly table: LockTable;

  constructor(under: OpenLockTable) {
    this.under = under;
    this.table = under.table;
  }

  async begin(): Promise<this> {
    await this.table.beginEpoch(epoch, 1);
    await this.table.openEpoch(epoch);
    await this.table.listOwner(epoch, ada);
    await this.table.listOwner(epoch, bob);
    return this;
  }

  /** Enters the holds one after another, in one call; `granted` or `queued` or another answer for each. */
  async enter(...holds: EnteringHold[]): Promise<string[]> {
    const answers = await this.table.enter(epoch, '1', holds);
    if (answers === 'older-pass') return [answers];
    return answers.map((answer) => {
      if (answer.status !== 'entered') return answer.status;
      return answer.granted ? 'granted' : 'queued';
    });
  }

  async claim(owner: Owner, limit = 100, lanes: string[] = [lane]): Promise<ClaimedHold[]> {
    const answer = await this.table.claim(epoch, { owner, lanes, limit, lanesVersion: null });
    if (answer === 'unlisted') throw new Error('The owner is not listed.');
    return answer.holds;
  }

  async claimTasks(owner: Owner, limit = 100, lanes: string[] = [lane]): Promise<string[]> {
    return (await this.claim(owner, limit, lanes)).map(({ task }) => task);
  }

  async release(owner: Owner, ...tasks: string[]): Promise<string[]> {
    return this.table.release(
      epoch,
      tasks.map((task) => ({ task, entry: 1, owner })),
    );
  }

  async statusOf(task: string): Promise<string | null> {
    return (await this.table.inspectHold(epoch, task))?.status ?? null;
  }

  /** The holds by status, each in order of task. */
  async statuses(): Promise<Record<string, string>> {
    const { holds } = await this.dump();
    return Object.fromEntries(holds.map(({ task, status }) => [task, status]));
  }

  async dump(): Promise<TableDump> {
    return this.under.dump(epoch);
  }

  async expectSound(): Promise<void> {
    expect(brokenInvariants(await this.dump())).toEqual([]);
  }
}

/** A fresh table for each test of the surrounding `describe`. */
export function freshTable(open: OpenTable, options: { promotionLimit?: number } = {}): () => TableInEpoch {
  let current: TableInEpoch | undefined;
  beforeEach(async () => {
    current = await new TableInEpoch(await open(options)).begin();
  });
  afterEach(async () => {
    const { under } = taken();
    current = undefined;
    await under.close();
  });
  function taken(): TableInEpoch {
    if (current === undefined) throw new Error('No table is open outside a test.');
    return current;
  }
  return taken;
}

/** Nothing written, and the reason told. */
export async function expectRefused(operation: Promise<unknown>, reason: RefusalReason): Promise<void> {
  const outcome: unknown = await operation.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(EpochRefused);
  expect((outcome as EpochRefused).reason).toBe(reason);
}

import fc from 'fast-check';
import { expect } from 'vitest';
import type { OpenLockTable } from './conformance/harness.conformance.js';
import { brokenInvariants } from './invariants.js';
import { EpochRefused, type ClaimAnswer, type LockTable } from './lock-table.js';
import { faultsTold } from './property/look.property.js';
import { lanes, operations, owners, type Operation } from './property/operations.property.js';
import { resolve, type Step, type Story } from './property/resolve.property.js';
import type { TableDump } from './table-dump.js';

export interface TablePair {
  a: OpenLockTable;
  b: OpenLockTable;
  close(): Promise<void>;
}

/** The budget of the tables of a pair: so small that promotions are left marked. */
export const promotionLimitOfPairs = 2;

/** A busy machine gets through fewer sequences; it does not fail. */
const timeLimitMs = 60_000;

/**
 * Random sequences of operations give the same answers and the same keyspaces on both tables of a pair, which are
 * sound after every step; and at the end every hold is granted in its turn until the table is empty.
 */
export async function checkTablesAgree(
  openPair: () => Promise<TablePair>,
  options: { runs: number; seed?: number },
): Promise<void> {
  const property = fc.asyncProperty(operations, async (sequence) => {
    const pair = await openPair();
    try {
      await runSequence(pair, sequence);
    } finally {
      await pair.close();
    }
  });
  const seed = options.seed === undefined ? {} : { seed: options.seed };
  await fc.assert(property, { numRuns: options.runs, interruptAfterTimeLimit: timeLimitMs, ...seed });
}

async function runSequence(pair: TablePair, sequence: Operation[]): Promise<void> {
  const story: Story = {
    ...{ epoch: '5', pass: 1, lanesVersion: null, lastFence: '', entries: new Map(), lastMoves: [] },
    before: undefined as unknown as TableDump,
  };
  await agree(pair, story, async (table) => [await table.beginEpoch('5', 1), await table.openEpoch('5')]);
  for (const owner of owners.slice(1))
    await agree(pair, story, (table) => table.listOwner(story.epoch, owner));
  for (const operation of sequence) await agree(pair, story, resolve(operation, story));
  await drain(pair, story);
}

/** One step on both tables. Returns the answer. */
async function agree({ a, b }: TablePair, story: Story, step: Step): Promise<unknown> {
  const answer = await outcome(step, a.table);
  expect(await outcome(step, b.table)).toEqual(answer);
  const after = await a.dump(story.epoch);
  expect(await b.dump(story.epoch)).toEqual(after);
  expect(brokenInvariants(after)).toEqual([]);
  expect(faultsTold(answer)).toEqual([]);
  for (const fence of fencesDrawn(answer)) {
    expect(fence > story.lastFence).toBe(true);
    story.lastFence = fence;
  }
  story.before = after;
  if (isClaim(answer)) story.lanesVersion = answer.lanesVersion;
  return answer;
}

/** G5: claimed and released in turn, every hold is granted, and nothing is left behind. */
async function drain(pair: TablePair, story: Story): Promise<void> {
  const { epoch } = story;
  for (const owner of owners) await agree(pair, story, (table) => table.listOwner(epoch, owner));
  for (let round = 0; story.before.holds.length > 0; round++) {
    const owner = owners[round % owners.length]!;
    const left = story.before.holds.map(({ task }) => task);
    await agree(pair, story, (table) => table.claim(epoch, { owner, lanes, limit: 2, lanesVersion: null }));
    const owned = story.before.holds.flatMap(({ task, entry, owner }) => {
      const holder = owners.find(({ name, incarnation }) => owner === `${name}:${incarnation}`);
      return holder === undefined ? [] : [{ task, entry, owner: holder }];
    });
    await agree(pair, story, (table) => table.release(epoch, owned));
    const progress = owned.length > 0 || story.before.marks.length > 0;
    expect({ progress, left }).toEqual({ progress: true, left });
  }
  await agree(pair, story, (table) => table.continuePromotions(epoch));
  for (const owner of owners) await agree(pair, story, (table) => table.unlistOwner(epoch, owner));
  expect(story.before.owners).toEqual([]);
}

/** The answer without what differs between two servers: times. A refusal is an answer, too. */
async function outcome(step: Step, table: LockTable): Promise<unknown> {
  try {
    return timeless(await step(table));
  } catch (error) {
    if (error instanceof EpochRefused) return { refused: error.reason };
    throw error;
  }
}

const timeFields = new Set(['since', 'enteredAt', 'grantedAt', 'ownedAt']);

function timeless(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(timeless);
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]: [string, unknown]) => {
      return [key, timeFields.has(key) && value !== null ? 'a time' : timeless(value)];
    }),
  );
}

/** G1: a later holder of a resource has a larger fence. */
function fencesDrawn(answer: unknown): string[] {
  const holds: unknown[] = isClaim(answer) ? answer.holds : Array.isArray(answer) ? answer : [];
  const entered = holds as { status?: string; fence?: string }[];
  const drawn = isClaim(answer) ? entered : entered.filter((one) => one?.status === 'owned');
  return drawn.flatMap(({ fence }) => fence ?? []);
}

function isClaim(answer: unknown): answer is ClaimAnswer {
  return typeof answer === 'object' && answer !== null && 'lanesVersion' in answer;
}

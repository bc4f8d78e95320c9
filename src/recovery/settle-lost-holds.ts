import type { Move, OwnedHold } from '../locks/lock-table.js';
import type { Owner } from '../owner.js';
import type { LostHoldOutcome } from '../store/lost-workers.js';
import type { TaskEntry } from '../store/store.js';
import type { Recovery } from './recovery.js';
import { faultPoint } from '../fault-points.js';
import { eachOnItsOwn } from './each-on-its-own.js';
import { inCurrentEpoch } from './in-current-epoch.js';

/** A call of so many takes either server some 10 ms. */
const holdsPerCall = 100;

/**
 * Gives back or releases holds of a dead owner, by what the store says of their tasks. What must stay, since its task is
 * not settled, or failed to go, is still in the owner's registry. Safe when two processes do it at once.
 */
export async function settleLostHolds(
  recovery: Recovery,
  owner: Owner,
  holds: readonly TaskEntry[],
): Promise<void> {
  for (let first = 0; first < holds.length; first += holdsPerCall) {
    await settleBatch(recovery, owner, holds.slice(first, first + holdsPerCall));
  }
}

async function settleBatch(recovery: Recovery, owner: Owner, holds: readonly TaskEntry[]): Promise<void> {
  const moves: Move[] = [];
  const releases: OwnedHold[] = [];
  const outcomes = await outcomesOf(recovery, owner, holds);
  if (outcomes.some((outcome) => typeof outcome === 'number')) faultPoint('dead-hold-given-back');
  // All at once: those who read rows together share the queries.
  const nextEntries = holds.map(async (hold, index) => {
    const outcome = outcomes[index] ?? 'unsettled';
    return outcome === 'later' ? entryThatWentOn(recovery, owner, hold) : outcome;
  });
  for (const [index, nextEntry] of (await Promise.all(nextEntries)).entries()) {
    const { task, entry } = holds[index] as TaskEntry;
    if (typeof nextEntry === 'number') moves.push({ task, entry, owner, nextEntry });
    else if (nextEntry === 'over') releases.push({ task, entry, owner });
  }
  await moveEach(recovery, moves);
  await releaseEach(recovery, releases);
}

export async function releaseEach(recovery: Recovery, holds: OwnedHold[]): Promise<void> {
  const { table } = recovery;
  await inCurrentEpoch(recovery, (epoch) => {
    const release = (some: OwnedHold[]): Promise<string[]> => table.release(epoch, some);
    return eachOnItsOwn(holds, release, telling(recovery, 'released'));
  });
}

async function moveEach(recovery: Recovery, moves: Move[]): Promise<void> {
  const { table } = recovery;
  await inCurrentEpoch(recovery, (epoch) => {
    const move = (some: Move[]): Promise<string[]> => table.move(epoch, some);
    return eachOnItsOwn(moves, move, telling(recovery, 'given back'));
  });
}

function telling({ log }: Recovery, what: string): (hold: OwnedHold, error: unknown) => string {
  return ({ task, entry, owner: { name, incarnation } }, error) => {
    log.error(
      { err: error, task, entry, worker: name, incarnation },
      `a hold of a dead worker cannot be ${what}`,
    );
    return 'failed';
  };
}

async function outcomesOf(
  { store, log }: Recovery,
  { name, incarnation }: Owner,
  holds: readonly TaskEntry[],
): Promise<LostHoldOutcome[]> {
  const ask = async (some: TaskEntry[]): Promise<LostHoldOutcome[]> => {
    const outcomes = await store.settleLostHolds(incarnation, some);
    return outcomes === 'refused' ? some.map(() => 'unsettled') : outcomes;
  };
  return eachOnItsOwn(holds, ask, (hold, error) => {
    log.error(
      { err: error, ...hold, worker: name, incarnation },
      'a hold of a dead worker cannot be settled',
    );
    return 'unsettled';
  });
}

/**
 * The later entry of a task that was given back, where its hold was to go on under that. A retry has another place,
 * and what lacked resources has others: then the old hold is over, and admission enters another one.
 */
async function entryThatWentOn(
  recovery: Recovery,
  { name, incarnation }: Owner,
  hold: TaskEntry,
): Promise<number | 'over' | 'unsettled'> {
  const look = async (): Promise<[number | 'over']> => [await entryByRowAndHold(recovery, hold.task)];
  const [entry = 'unsettled'] = await eachOnItsOwn<TaskEntry, number | 'over' | 'unsettled'>(
    [hold],
    look,
    (_, error) => {
      recovery.log.error(
        { err: error, ...hold, worker: name, incarnation },
        'a hold of a dead worker cannot be read',
      );
      return 'unsettled';
    },
  );
  return entry;
}

export async function entryByRowAndHold(recovery: Recovery, task: string): Promise<number | 'over'> {
  const { store, table } = recovery;
  const [row, hold] = await Promise.all([
    store.getTask(task),
    inCurrentEpoch(recovery, (epoch) => table.inspectHold(epoch, task)),
  ]);
  if (row === null || hold === null || row.worker !== null) return 'over';
  if (!sameNames(row, hold)) return 'over';
  // G1: under the locks of its run, whose hold has no place where it ran at once.
  if (row.state === 'rolling_back') return row.entry;
  return row.state === 'waiting' && row.place === hold.place ? row.entry : 'over';
}

function sameNames(one: { exclusive: string[]; shared: string[] }, other: typeof one): boolean {
  const names = ({ exclusive, shared }: typeof one): string =>
    JSON.stringify([[...exclusive].sort(), [...shared].sort()]);
  return names(one) === names(other);
}

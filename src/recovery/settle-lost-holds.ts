import type { Move, OwnedHold } from '../locks/lock-table.js';
import type { Owner } from '../owner.js';
import type { LostHoldOutcome } from '../store/lost-workers.js';
import type { TaskEntry } from '../store/store.js';
import type { Recovery } from './recovery.js';
import { Unavailable } from '../errors.js';
import { inCurrentEpoch } from './in-current-epoch.js';

/**
 * Gives back or releases holds of a dead owner, by what the store says of their tasks. Resolves with how many must
 * stay: their tasks are not settled, or failed to be. Safe when two processes do it at once.
 */
export async function settleLostHolds(
  recovery: Recovery,
  owner: Owner,
  holds: readonly TaskEntry[],
): Promise<number> {
  const { table } = recovery;
  const moves: Move[] = [];
  const releases: OwnedHold[] = [];
  const outcomes = await outcomesOf(recovery, owner, holds);
  for (const [index, { task, entry }] of holds.entries()) {
    const outcome = outcomes[index] ?? 'unsettled';
    const nextEntry = outcome === 'later' ? await entryThatWentOn(recovery, task) : outcome;
    if (typeof nextEntry === 'number') moves.push({ task, entry, owner, nextEntry });
    else if (nextEntry === 'over') releases.push({ task, entry, owner });
  }
  await inCurrentEpoch(recovery, async (epoch) => {
    if (moves.length > 0) await table.move(epoch, moves);
    if (releases.length > 0) await table.release(epoch, releases);
  });
  return holds.length - moves.length - releases.length;
}

/** G5: where the store fails at one of them, the others are settled one by one. */
async function outcomesOf(
  { store, log }: Recovery,
  { name, incarnation }: Owner,
  holds: readonly TaskEntry[],
): Promise<LostHoldOutcome[]> {
  try {
    const outcomes = await store.settleLostHolds(incarnation, [...holds]);
    return outcomes === 'refused' ? holds.map(() => 'unsettled') : outcomes;
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    if (holds.length === 1) {
      log.error({ err: error, ...holds[0], worker: name, incarnation }, 'a hold of a dead worker cannot go');
      return ['unsettled'];
    }
    const each: LostHoldOutcome[] = [];
    for (const hold of holds) {
      each.push(...(await outcomesOf({ store, log } as Recovery, { name, incarnation }, [hold])));
    }
    return each;
  }
}

/**
 * The later entry of a task that was given back, where its hold was to go on under that. A retry has another place,
 * and what lacked resources has others: then the old hold is over, and admission enters another one.
 */
export async function entryThatWentOn(recovery: Recovery, task: string): Promise<number | 'over'> {
  const { store, table } = recovery;
  const [row, hold] = await Promise.all([
    store.getTask(task),
    inCurrentEpoch(recovery, (epoch) => table.inspectHold(epoch, task)),
  ]);
  if (row === null || hold === null || row.worker !== null) return 'over';
  if (row.state !== 'waiting' && row.state !== 'rolling_back') return 'over';
  const same = row.place === hold.place && row.lane === hold.lane && sameNames(row, hold);
  return same ? row.entry : 'over';
}

function sameNames(one: { exclusive: string[]; shared: string[] }, other: typeof one): boolean {
  const names = ({ exclusive, shared }: typeof one): string =>
    JSON.stringify([[...exclusive].sort(), [...shared].sort()]);
  return names(one) === names(other);
}

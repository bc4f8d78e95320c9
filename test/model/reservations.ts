import type { Hold, TableState } from '../../src/locks/memory/table-state.js';
import { taskOf, type Rows } from './rows.js';

/**
 * G4: tasks with holds that no worker has, and that they do not wait for with that very entry. Where nobody claims their
 * lane, nobody would ever find them, and whatever conflicts with them would wait for ever.
 */
export function reservedInVain(rows: Rows, state: TableState): string[] {
  return unownedHolds(rows, state)
    .filter(({ task, entry }) => {
      const row = taskOf(rows, task);
      const waits = row?.state === 'waiting' || (row?.state === 'rolling_back' && row.worker === null);
      return !waits || row.entry !== entry;
    })
    .map(({ task }) => task);
}

/** Pausing is done, and nothing of it is still to be taken out: nothing is reserved for what does not run meanwhile. */
export function heldOfPaused(rows: Rows, state: TableState): string[] {
  const done = rows.phase === 'paused' && rows.admission === null;
  if (!done || rows.tasks.some(({ takeOut }) => takeOut !== null)) return [];
  return unownedHolds(rows, state)
    .filter(({ task }) => taskOf(rows, task)?.state === 'waiting')
    .map(({ task }) => task);
}

/** In the epoch that is committed, where the table is in that state. */
function unownedHolds({ epoch }: Rows, state: TableState): Hold[] {
  if (state.epoch === null || state.epoch.number !== epoch || state.epoch.identity !== state.identity)
    return [];
  const { holds } = state.keyspaces.get(epoch) ?? { holds: new Map<string, Hold>() };
  return [...holds.values()].filter(({ owner }) => owner === null);
}

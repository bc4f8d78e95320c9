import type { Claim, TaskEntry } from '../../src/store/store.js';
import type { Guards } from './guards.js';
import type { Call } from './process.js';
import type { Rows } from './rows.js';

/** Whether a call waits: somebody has a lock that it needs, or a row that it changes and would not skip. */
export function mustWait(rows: Rows, guards: Guards, { op, args }: Call): boolean {
  const locked = (ids: string[]): boolean => ids.some((id) => rows.admission?.rows.has(id) === true);
  const named = (tasks: unknown): string[] => (tasks as TaskEntry[]).map(({ task }) => task);
  switch (op) {
    case 'claimTasks': {
      if (rows.rebuild !== null && guards.on('claim-waits-for-rebuild')) return true;
      return locked(named((args[0] as { claims: Claim[] }).claims));
    }
    case 'insertRunning':
      return rows.rebuild !== null && guards.on('insert-waits-for-rebuild');
    case 'lockForRebuild':
      return rows.rebuild !== null;
    case 'finishTasks':
    case 'giveBackTasks':
      return locked(named(args[1]));
    case 'cancelTask':
      return locked([args[0] as string]);
    case 'discardTasks':
      return locked(args[1] as string[]);
    case 'settleLostLocks':
      return [...(rows.admission?.rows.values() ?? [])].some(({ requester }) => requester === args[0]);
    case 'continuePause':
      return (rows.admission?.rows.size ?? 0) > 0;
    case 'beginPause':
      return rows.admission !== null;
    default:
      return false;
  }
}

import type { LockTable } from '../lock-table.js';
import type { ExaminedHold, FaultPlace, TableFault } from '../table-audit.js';
import { lanes, resources, tasks } from './operations.property.js';

/** Everything that can be seen of a table without its dump. */
export interface Look {
  locks: unknown;
  holds: unknown;
  audit: { examined: ExaminedHold[]; faults: TableFault[] };
}

export async function look(table: LockTable, epoch: string, waitersEach: number): Promise<Look> {
  return {
    locks: await table.inspectLocks(epoch, resources, waitersEach),
    holds: await Promise.all(tasks.map((task) => table.inspectHold(epoch, task))),
    audit: await audit(table, epoch),
  };
}

/** What an audit found, if the answer is a look: nothing, while no call has died. */
export function faultsTold(answer: unknown): unknown[] {
  const { audit } = (answer ?? {}) as Partial<Look>;
  if (audit === undefined) return [];
  return [...audit.faults, ...audit.examined.filter(({ fault }) => fault !== null)];
}

async function audit(table: LockTable, epoch: string): Promise<Look['audit']> {
  const places: FaultPlace[] = [
    ...resources.flatMap((name) => (['lock', 'queue'] as const).map((place) => ({ place, name }))),
    ...lanes.map((name) => ({ place: 'ready' as const, name })),
    ...tasks.map((name) => ({ place: 'waits' as const, name })),
  ];
  const pages = await Promise.all(places.map((each) => table.findFaults(epoch, { ...each, cursor: null })));
  const faults = pages.flatMap((page) => page.faults);
  return { examined: await table.examineHolds(epoch, tasks), faults };
}

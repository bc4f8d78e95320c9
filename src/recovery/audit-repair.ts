import type { OwnedHold } from '../locks/lock-table.js';
import type { FindingKind, Suspect } from './audit-finding.js';
import type { Recovery } from './recovery.js';
import { lockQueue, parseLane } from '../lane.js';
import { entryByRowAndHold } from './settle-lost-holds.js';

/**
 * Mends one finding, as far as that harms nothing that is alive: whatever is deleted is compared with (task, entry, owner)
 * by the script that deletes it, and nothing that runs or rolls back loses a lock. What is repaired is seen by looking
 * again.
 */
export async function repair(recovery: Recovery, epoch: string, found: Suspect): Promise<void> {
  if (found.fault !== null) await recovery.table.mendFaults(epoch, [found.fault]);
  else await repairs[found.kind]?.(recovery, epoch, found);
}

type Repair = (recovery: Recovery, epoch: string, found: Suspect) => Promise<void>;

/** Of the other kinds none can be ended but by their own limits, by the clean-up of their owner, or by people. */
const repairs: Partial<Record<FindingKind, Repair>> = {
  'registry-entry-without-hold': (recovery, epoch, found) =>
    release(recovery, epoch, { ...found, entry: noEntry }),
  'hold-unregistered': async ({ table }, epoch, found) => {
    await table.registerHolds(epoch, ownedHolds(found));
  },
  'hold-of-settled-task': letGo,
  'hold-without-task': letGoWithoutTask,
  'hold-of-earlier-entry': goOnOrLetGo,
  'hold-not-admitted': enterAnew,
  'hold-unfinished': enterAnew,
  'hold-not-ready': enterAnew,
  'hold-lacks-resource': enterAnew,
  'task-without-hold': readmit,
  'running-without-hold': enterAgain,
};

const noEntry = 0;

function ownedHolds({ task, entry, owner }: Suspect): OwnedHold[] {
  return task === null || entry === null || owner === null ? [] : [{ task, entry, owner }];
}

async function release({ table }: Recovery, epoch: string, found: Suspect): Promise<void> {
  await table.release(epoch, ownedHolds(found));
}

/** (task, entry) is over for good: entries only grow, and nobody can say anything of this one any more. */
async function letGo(recovery: Recovery, epoch: string, found: Suspect): Promise<void> {
  const { task, entry, owner } = found;
  if (owner !== null) return release(recovery, epoch, found);
  if (task === null || entry === null) return;
  await recovery.table.takeOut(epoch, [{ task, entry }]);
}

/** The insert of what its owner runs at once comes after the hold: it must have become impossible. */
async function letGoWithoutTask(recovery: Recovery, epoch: string, found: Suspect): Promise<void> {
  const { store, table, log } = recovery;
  const { task, owner } = found;
  if (task === null) return;
  if (owner !== null) {
    const hold = await table.inspectHold(epoch, task);
    if (hold === null) return;
    const { queue, name } = laneOf(hold.lane);
    if (!(await store.voidTask({ id: task, name, queue }))) return;
    log.warn({ ...found }, 'a task that never came is canceled, so that its hold can go');
  }
  await letGo(recovery, epoch, found);
}

function laneOf(lane: string): { queue: string; name: string } {
  try {
    const { queue, name } = parseLane(lane);
    // Ad-hoc locks are listed nowhere, and end without a trace.
    return { queue: queue === lockQueue ? 'default' : queue, name };
  } catch {
    return { queue: 'default', name: 'unknown' };
  }
}

/** G1: what rolls back under a later entry must keep its locks. */
async function goOnOrLetGo(recovery: Recovery, epoch: string, found: Suspect): Promise<void> {
  const { store, table } = recovery;
  const { task, entry, owner } = found;
  if (task === null || entry === null) return;
  const nextEntry = await entryByRowAndHold(recovery, task);
  if (owner !== null && nextEntry !== 'over') {
    await table.move(epoch, [{ task, entry, owner, nextEntry }]);
    return;
  }
  const row = await store.getTask(task);
  if (row?.state !== 'rolling_back') await letGo(recovery, epoch, found);
}

/** Comes in again at its place, if its task waits. What is owned is not taken out: it runs, and keeps what it has. */
async function enterAnew(recovery: Recovery, epoch: string, found: Suspect): Promise<void> {
  const { task, entry } = found;
  if (task === null || entry === null) return;
  const row = await recovery.store.getTask(task);
  if (row?.state !== 'waiting') return;
  await recovery.table.takeOut(epoch, [{ task, entry }]);
  await readmit(recovery, epoch, found);
}

async function readmit({ store, table }: Recovery, epoch: string, { task, entry }: Suspect): Promise<void> {
  if (task === null || entry === null) return;
  if ((await store.readmitTasks(epoch, [{ task, entry }])) > 0) await table.wakeAdmission();
}

/** Under its own owner, where nobody else has come in meanwhile; and let go again where the task has ended meanwhile. */
async function enterAgain({ store, table }: Recovery, epoch: string, { task }: Suspect): Promise<void> {
  const row = task === null ? null : await store.getTask(task);
  if (row === null || row.worker === null || !runs(row.state)) return;
  const { id, entry, lane, priority, place, exclusive, shared, worker: owner } = row;
  const hold = { task: id, entry, lane, priority, place, exclusive, shared };
  const [answer] = [await table.enterNow(epoch, owner, [hold])].flat();
  if (typeof answer !== 'object' || answer.status !== 'owned') return;
  const now = await store.getTask(id);
  const stillRuns = now !== null && runs(now.state) && now.entry === entry;
  if (!stillRuns) await table.release(epoch, [{ task: id, entry, owner }]);
}

function runs(state: string): boolean {
  return state === 'running' || state === 'canceling' || state === 'rolling_back';
}

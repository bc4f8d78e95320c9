import { faultPoint } from '../fault-points.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { BuildingHold, EpochRecord, LockTable } from '../locks/lock-table.js';
import type { TableFormats } from '../locks/table-formats.js';
import type { Logger } from '../log.js';
import type { NamespaceRow, Rebuild, RunningLikeTask, Store } from '../store/store.js';
import { Unavailable, WrongTable } from '../errors.js';
import { tableFormats } from '../locks/table-formats.js';

export interface EpochOpening {
  store: Store;
  table: LockTable;
  log: Logger;
  /** What this build can keep. */
  formats?: TableFormats;
}

/** Few enough that entering them, one call each where they are large, stays far below the idle limit of a rebuild. */
const tasksPerPage = 50;

/** How often and how long to look whether another process that is building has finished. */
const buildingPollMs = 100;
const buildingPatienceMs = 2_000;

/**
 * The epoch that the store has committed, where the table is in that very state; otherwise a new one, built from
 * the running-like tasks. Who builds waits for claims under way; everybody else waits for who builds.
 */
export async function findOrOpenEpoch(opening: EpochOpening): Promise<string> {
  const found = await findEpoch(opening);
  return found ?? (await openEpoch(opening, 'unless-usable'));
}

/**
 * Opens a new epoch and commits it; `always` where the table cannot hold anything yet (embedded start). With
 * `unless-usable` an epoch that another process opened meanwhile is taken instead.
 */
export async function openEpoch(opening: EpochOpening, when: 'always' | 'unless-usable'): Promise<string> {
  const { store, table, log } = opening;
  const { epoch, built } = await store.rebuild(async (rebuild) => {
    const record = await table.readEpoch();
    const usable = when === 'always' ? null : usableEpoch(record, rebuild.namespace, opening);
    if (usable !== null) return { epoch: usable, built: false };
    return { epoch: await build(opening, rebuild, record?.epoch ?? null), built: true };
  });
  if (built) void unlinkOldEpochs(table, epoch, log);
  return epoch;
}

/** The usable epoch, or null. Gives another process that is building a little time. */
async function findEpoch(opening: EpochOpening): Promise<string | null> {
  const { store, table } = opening;
  const started = performance.now();
  for (;;) {
    const [namespace, record] = await Promise.all([store.readNamespace(), table.readEpoch()]);
    const usable = usableEpoch(record, namespace, opening);
    if (usable !== null) return usable;
    const building = record?.status === 'building' && record.identityHolds;
    if (!building || performance.now() - started >= buildingPatienceMs) return null;
    await delay(buildingPollMs);
  }
}

/**
 * G7: any doubt about the table is answered with a new epoch, which the store alone justifies. Throws WrongTable where it
 * is in order, and only a newer version can keep its format.
 */
export function usableEpoch(
  record: EpochRecord | null,
  namespace: NamespaceRow,
  { formats = tableFormats }: Pick<EpochOpening, 'formats'>,
): string | null {
  if (record === null || record.status !== 'open' || !record.identityHolds) return null;
  if (record.epoch !== namespace.epoch || record.identity !== namespace.identity) return null;
  const { format } = record;
  // An older one is over once nobody lives who needs it: whoever builds sees to that.
  if (format <= formats.newest) return format < formats.oldest ? null : record.epoch;
  throw new WrongTable(
    `The lock table has format ${format}; this build keeps ${shownFormats(formats)}. Run a newer version of Holdfast.`,
  );
}

async function build(opening: EpochOpening, rebuild: Rebuild, seen: string | null): Promise<string> {
  const { table, log } = opening;
  const epoch = await rebuild.drawEpoch(seen);
  faultPoint('epoch-drawn');
  if ((await table.beginEpoch(epoch, await formatFor(opening, rebuild))) === 'not-newer') {
    throw new Unavailable(
      `Epoch ${epoch} is not newer than the one in the lock table: it changed meanwhile.`,
    );
  }
  faultPoint('epoch-begun');
  const holds = await enterRunning(opening, rebuild, epoch);
  faultPoint('epoch-entered');
  if ((await table.openEpoch(epoch)) === 'not-building') {
    throw new Unavailable(`Epoch ${epoch} was replaced while it was being built.`);
  }
  faultPoint('epoch-opened');
  const record = await table.readEpoch();
  if (record?.epoch !== epoch || !record.identityHolds) {
    throw new Unavailable(`Epoch ${epoch} was lost as soon as it was open.`);
  }
  faultPoint('epoch-built');
  await rebuild.commitEpoch({ epoch, identity: record.identity });
  log.info({ epoch, holds, replaced: seen }, 'opened a new epoch of the lock table');
  return epoch;
}

/** During an upgrade both versions must be able to keep it. */
async function formatFor({ formats = tableFormats }: EpochOpening, rebuild: Rebuild): Promise<number> {
  const lowest = (await rebuild.lowestFormat()) ?? formats.newest;
  if (lowest >= formats.oldest) return Math.min(lowest, formats.newest);
  throw new WrongTable(
    `A worker that lives keeps format ${lowest} of the lock table at most; this build keeps ${shownFormats(formats)}. ` +
      'Stop the workers of older versions first.',
  );
}

function shownFormats({ oldest, newest }: TableFormats): string {
  return oldest === newest ? `format ${oldest}` : `formats ${oldest} to ${newest}`;
}

async function enterRunning({ table, log }: EpochOpening, rebuild: Rebuild, epoch: string): Promise<number> {
  let after: string | null = null;
  let entered = 0;
  for (;;) {
    const page: RunningLikeTask[] = await rebuild.runningLike({ after, limit: tasksPerPage });
    const answers = await table.enterBuilding(epoch, page.map(buildingHoldOf));
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'entered') entered += 1;
      else {
        const fields = { task: page[index]?.id, resource: answer.resource, epoch };
        log.error(fields, 'two running tasks conflict: the second has no hold in the new epoch');
      }
    }
    after = page.at(-1)?.id ?? null;
    if (after === null || page.length < tasksPerPage) return entered;
  }
}

function buildingHoldOf(task: RunningLikeTask): BuildingHold {
  const { id, entry, lane, priority, place, exclusive, shared, owner, fence } = task;
  return { task: id, entry, lane, priority, place, exclusive, shared, owner, fence };
}

/** In the background: nothing reads an old epoch, so failing costs memory only, until the next one is opened. */
async function unlinkOldEpochs(table: LockTable, epoch: string, log: Logger): Promise<void> {
  try {
    const keys = await table.unlinkEpochsBefore(epoch);
    if (keys > 0) log.info({ epoch, keys }, 'unlinked the keys of older epochs');
  } catch (error) {
    log.warn({ err: error, epoch }, 'the keys of older epochs could not be unlinked');
  }
}

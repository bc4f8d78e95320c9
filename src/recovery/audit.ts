import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '../owner.js';
import type { Finding, Suspect } from './audit-finding.js';
import type { Recovery } from './recovery.js';
import { suspect, suspectKey } from './audit-finding.js';
import { lookAgain } from './audit-looking-again.js';
import { AuditLooking } from './audit-looking.js';
import { repair } from './audit-repair.js';
import { survey } from './audit-survey.js';
import { collectLockOwners } from './collect-lock-owners.js';

export interface AuditRequest {
  epoch: string;
  /** Mends what it finds, as far as that can be done without harm. */
  repair: boolean;
  /** Looks at every key of the lock table, by SCAN. */
  deep: boolean;
}

/** In milliseconds. */
export interface AuditPauses {
  /**
   * Before each further look. What is on its way (a claim, a release, a give-back) has another entry or owner, or is gone,
   * at one of them; most of it at the first. Without suspects there are none.
   */
  lookAgain: readonly number[];
  /** Before each look at what was repaired. */
  repaired: readonly number[];
}

export const auditPauses: AuditPauses = { lookAgain: [300, 700, 2_000], repaired: [0, 500, 2_500] };

/** What is wrong in the lock table, or between it and the store, and is not on its way to be right. */
export async function audit(
  recovery: Recovery,
  request: AuditRequest,
  pauses: AuditPauses,
): Promise<Finding[]> {
  const { epoch } = request;
  const owners = await collectLockOwners({ table: recovery.table, epoch: fixed(epoch) });
  const context = { epoch, living: new Set(await livingWorkers(recovery)) };
  const looking = new AuditLooking(recovery, context);
  const orphans = (): Promise<Suspect[]> => ownersWithoutWorkers(recovery, epoch);
  const again = (suspects: Suspect[]): Promise<Suspect[]> => lookAgain(looking, suspects, orphans);

  const surveyed = [...(await orphans()), ...(await survey(recovery, looking, { ...request, owners }))];
  let found = [...new Map(surveyed.map((one) => [suspectKey(one), one])).values()];
  for (const pauseMs of pauses.lookAgain) {
    if (found.length === 0) return [];
    await delay(pauseMs);
    // Who has died meanwhile leaves what its clean-up sees to.
    context.living = new Set(await livingWorkers(recovery));
    found = await again(found);
  }
  let left = found;
  if (request.repair) {
    await repairAll(recovery, epoch, found);
    for (const pauseMs of pauses.repaired) {
      await delay(pauseMs);
      left = await again(left);
      if (left.length === 0) break;
    }
  }
  const stillThere = new Set(left.map(suspectKey));
  return found.map((one) => findingOf(one, !stillThere.has(suspectKey(one))));
}

/** What leads to no hold goes first: the others may have waited for it alone. */
async function repairAll(recovery: Recovery, epoch: string, found: Suspect[]): Promise<void> {
  const inOrder = [
    ...found.filter(({ fault }) => fault !== null),
    ...found.filter(({ fault }) => fault === null),
  ];
  for (const one of inOrder) {
    try {
      await repair(recovery, epoch, one);
    } catch (error) {
      // G5: one that cannot be mended keeps no other from it.
      recovery.log.error({ err: error, ...one }, 'a finding of an audit could not be repaired');
    }
  }
  while ((await recovery.table.continuePromotions(epoch)) > 0);
}

function findingOf({ fault: _, ...found }: Suspect, repaired: boolean): Finding {
  return { ...found, repaired };
}

async function livingWorkers({ store }: Recovery): Promise<string[]> {
  const workers = await store.observeWorkers();
  return workers.filter(({ reaped }) => !reaped).map(({ incarnation }) => incarnation);
}

/** Orphans, see reconcile-orphan-locks.ts: the table is read first, since an owner is listed after its row is there. */
async function ownersWithoutWorkers(recovery: Recovery, epoch: string): Promise<Suspect[]> {
  const owners: Owner[] = await collectLockOwners({ table: recovery.table, epoch: fixed(epoch) });
  const known = new Set(await recovery.store.workersAmong(owners.map(({ incarnation }) => incarnation)));
  const orphans = owners.filter(({ incarnation }) => !known.has(incarnation));
  return orphans.map((owner) => suspect('owner-without-worker', { owner }));
}

/** An audit is of one epoch: where that is over, it is over too. */
function fixed(epoch: string): Recovery['epoch'] {
  return { get: async () => epoch, refused: () => {}, onRefused: () => () => {} };
}

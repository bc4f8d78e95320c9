import type { Page, RegistryEntry } from '../locks/lock-table.js';
import type { Owner } from '../owner.js';
import type { Recovery } from './recovery.js';
import { faultPoint } from '../fault-points.js';
import { inCurrentEpoch } from './in-current-epoch.js';
import { releaseEach, settleLostHolds } from './settle-lost-holds.js';

const holdsPerPage = 500;

/**
 * Settles all that the registry of a dead owner lists, and unlists the owner. Costs what the owner held. Resolves with
 * whether nothing of it is left; where something is, or a store failed, it is to be called again. Never rejects.
 */
export async function cleanupLocksForOwner(recovery: Recovery, owner: Owner): Promise<boolean> {
  try {
    await settleRegistry(recovery, owner);
    faultPoint('dead-owner-clean');
    const { table } = recovery;
    // Refused while it holds anything.
    return (await inCurrentEpoch(recovery, (epoch) => table.unlistOwner(epoch, owner))) === 'unlisted';
  } catch (error) {
    recovery.log.warn(
      { err: error, owner },
      'the holds of a dead owner are cleaned up at the next observation',
    );
    return false;
  }
}

async function settleRegistry(recovery: Recovery, owner: Owner): Promise<void> {
  const { table } = recovery;
  let after: string | null = null;
  for (;;) {
    const page: Page = { after, limit: holdsPerPage };
    const listed: RegistryEntry[] = await inCurrentEpoch(recovery, (epoch) =>
      table.readRegistry(epoch, owner, page),
    );
    const holds = listed.flatMap(({ task, entry }) => (entry === null ? [] : [{ task, entry }]));
    await settleLostHolds(recovery, owner, holds);
    // A script that died half-way has listed what the owner does not hold.
    const unheld = listed
      .filter(({ entry }) => entry === null)
      .map(({ task }) => ({ task, entry: 0, owner }));
    await releaseEach(recovery, unheld);
    after = listed.at(-1)?.task ?? null;
    if (after === null || listed.length < holdsPerPage) return;
  }
}

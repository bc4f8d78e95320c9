import type { FindOwners } from '../locks/lock-table.js';
import type { Owner } from '../owner.js';
import type { Recovery } from './recovery.js';
import { ownerText } from '../owner.js';
import { inCurrentEpoch } from './in-current-epoch.js';

const ownersPerPage = 500;

/** The owners that the lock table lists: all, or those of one name. */
export async function collectLockOwners(
  recovery: Pick<Recovery, 'table' | 'epoch'>,
  of: { name?: string } = {},
): Promise<Owner[]> {
  const found: Owner[] = [];
  let after: string | null = null;
  for (;;) {
    const find: FindOwners = { ...of, after, limit: ownersPerPage };
    const page: Owner[] = await inCurrentEpoch(recovery, (epoch) => recovery.table.findOwners(epoch, find));
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < ownersPerPage) return found;
    after = ownerText(last);
  }
}

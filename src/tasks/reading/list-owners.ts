import type { LockTable } from '../../locks/lock-table.js';
import type { Owner } from '../../owner.js';
import type { Store } from '../../store/store.js';
import type { WorkerRow } from '../../store/worker-row.js';
import type { PageOptions } from './page-options.js';
import { ownerText } from '../../owner.js';
import { refuseUnknownOptions } from '../known-options.js';
import { inOpenEpoch } from './in-open-epoch.js';
import { cutPage, pageOf } from './page-options.js';

/** An owner that the lock table lists: a worker that may hold. */
export interface LockOwner extends Owner {
  /** Whether its last beat is younger than its TTL; null where it has no worker row. For display only. */
  online: boolean | null;
  /** Its first 1,000 holds in order of task id. `entry` and `fence` are null where a script died half-way. */
  holds: { task: string; entry: number | null; fence: string | null }[];
  /** Whether it has more holds than those. */
  more: boolean;
}

export interface OwnerPage {
  owners: LockOwner[];
  next: string | null;
}

const holdsEach = 1_000;

/** Owners in order of their text, `name:incarnation`. */
export async function listOwners(
  { store, table }: { store: Pick<Store, 'listWorkers' | 'readNamespace'>; table: LockTable },
  options: PageOptions = {},
): Promise<OwnerPage> {
  refuseUnknownOptions(options, ['limit', 'after'], 'locks.owners');
  const { limit, after } = pageOf(options);
  const page = await inOpenEpoch({ store, table }, async (epoch) => {
    const found = cutPage(await table.findOwners(epoch, { after, limit: limit + 1 }), limit, ownerText);
    const holds = await Promise.all(
      found.rows.map((owner) => table.readRegistry(epoch, owner, { after: null, limit: holdsEach + 1 })),
    );
    return { ...found, holds };
  });
  if (page === null) return { owners: [], next: null };
  const workers = await workersByIncarnation(store);
  const owners = page.rows.map((owner, index): LockOwner => {
    const holds = page.holds[index] ?? [];
    const { online = null } = workers.get(owner.incarnation) ?? {};
    return { ...owner, online, holds: holds.slice(0, holdsEach), more: holds.length > holdsEach };
  });
  return { owners, next: page.next };
}

async function workersByIncarnation(store: Pick<Store, 'listWorkers'>): Promise<Map<string, WorkerRow>> {
  const workers = new Map<string, WorkerRow>();
  let after: string | null = null;
  for (;;) {
    const rows: WorkerRow[] = await store.listWorkers({ after, limit: 1_000 });
    for (const row of rows) workers.set(row.incarnation, row);
    if (rows.length < 1_000) return workers;
    after = rows.at(-1)?.incarnation ?? null;
  }
}

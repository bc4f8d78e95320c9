import type { LockTable, LockView } from '../../locks/lock-table.js';
import type { Owner } from '../../owner.js';
import type { Mode } from '../../resources.js';
import type { Store } from '../../store/store.js';
import type { PageOptions } from './page-options.js';
import { checkName } from '../../resources.js';
import { refuseUnknownOptions } from '../known-options.js';
import { inOpenEpoch } from './in-open-epoch.js';
import { cutPage, pageOf } from './page-options.js';

export interface LockListOptions extends PageOptions {
  /** Exactly this resource. Default: all that are held or waited for. */
  resource?: string;
}

/** A resource with who holds it and who waits for it. */
export interface Lock {
  resource: string;
  /** null where tasks wait that have not been granted it yet. */
  mode: Mode | null;
  /** At most 1,000. `owner` is null while the resource is reserved for a task that no worker has taken yet. */
  holders: { task: string; entry: number; owner: Owner | null; fence: string | null; since: string }[];
  /** The first 100 in order; `position` counts from 1. */
  waiting: { task: string; mode: Mode; position: number }[];
  /** How many wait in all. */
  waitingCount: number;
}

export interface LockPage {
  locks: Lock[];
  next: string | null;
}

const waitersEach = 100;

/**
 * Locks in order of their resources. A page may have fewer than `limit`, or none, and yet a `next`: resources
 * of tasks that are not admitted yet are passed over.
 */
export async function listLocks(
  { store, table }: { store: Pick<Store, 'readNamespace' | 'resourcesInUse'>; table: LockTable },
  options: LockListOptions = {},
): Promise<LockPage> {
  refuseUnknownOptions(options, ['resource', 'limit', 'after'], 'locks.list');
  const page = await resourcesOf(store, options);
  if (page.rows.length === 0) return { locks: [], next: null };
  const views = await inOpenEpoch({ store, table }, (epoch) =>
    table.inspectLocks(epoch, page.rows, waitersEach),
  );
  return { locks: (views ?? []).filter(isInUse).map(lockOf), next: page.next };
}

async function resourcesOf(
  store: Pick<Store, 'resourcesInUse'>,
  options: LockListOptions,
): Promise<{ rows: string[]; next: string | null }> {
  const { limit, after } = pageOf(options);
  if (options.resource !== undefined) {
    checkName(options.resource, 'resource');
    return { rows: [options.resource], next: null };
  }
  const resources = await store.resourcesInUse({ after, limit: limit + 1 });
  return cutPage(resources, limit, (resource) => resource);
}

function isInUse({ holders, waitingCount }: LockView): boolean {
  return holders.length > 0 || waitingCount > 0;
}

function lockOf({ resource, mode, holders, waiting, waitingCount }: LockView): Lock {
  return { resource, mode, holders, waiting, waitingCount };
}

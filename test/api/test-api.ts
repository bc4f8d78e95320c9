import type { ApiOptions } from '../../src/api/api-incarnation.js';
import type { Place } from '../worker/place.js';
import { ApiOwner } from '../../src/api/api-owner.js';
import { waitUntil } from '../helpers/wait-until.js';

/** This process as an owner at a place; closed with it. */
export function apiAt(place: Place, given: Partial<ApiOptions> = {}): ApiOwner {
  const { store, table, epoch, definitions, beater, log } = place;
  const options = { store, table, epoch, definitions, beater, log, name: 'web', ttlMs: 3_000 };
  const api = new ApiOwner(async () => ({ ...options, ...given }));
  place.runNow = (prepared) => api.runNow(prepared);
  place.onClose(() => api.close());
  return api;
}

/** Neither store has anything of a task or lock, nor of who held it, but for rows in final states. */
export async function nothingLeft(place: Place): Promise<void> {
  const nothing = async (): Promise<boolean> => {
    const epoch = await place.epoch.get();
    const rows = await place.store.listTasks({ after: null, limit: 100 });
    const left = rows.filter(({ state, name }) => name === 'holdfast.lock' || !isFinal(state));
    if (left.length > 0) throw new Error(`Rows are left: ${JSON.stringify(left)}`);
    for (const owner of await place.table.findOwners(epoch, { after: null, limit: 100 })) {
      const holds = await place.table.readRegistry(epoch, owner, { after: null, limit: 100 });
      if (holds.length > 0) throw new Error(`Holds are left: ${JSON.stringify(holds)}`);
    }
    const locks = await place.table.inspectLocks(epoch, ['r', 'r1', 'r2', 's'], 100);
    const held = locks.filter(({ holders, waiting }) => holders.length + waiting.length > 0);
    if (held.length > 0) throw new Error(`Locks are left: ${JSON.stringify(held)}`);
    return true;
  };
  await waitUntil(nothing, 'nothing is left', 15_000);
}

function isFinal(state: string): boolean {
  return ['completed', 'failed', 'canceled'].includes(state);
}

/** Once so many wait for a resource. */
export async function waitersOn(place: Place, resource: string, count: number): Promise<void> {
  const waiting = async (): Promise<boolean> => {
    const [lock] = await place.table.inspectLocks(await place.epoch.get(), [resource], 100);
    return lock?.waiting.length === count;
  };
  await waitUntil(waiting, `${count} wait for ${resource}`);
}

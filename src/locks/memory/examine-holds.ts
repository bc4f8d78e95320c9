import { parseOwner } from '../../owner.js';
import type { ExaminedHold, HoldFault } from '../table-audit.js';
import type { Call } from './call.js';
import { maxResourcesPerCall } from '../chunks.js';
import { timestamp } from './inspect.js';
import { findResource } from './resources-of.js';
import type { Hold, Keyspace } from './table-state.js';

/** Answers for the first tasks only, where their holds name more resources than one call looks at. */
export function examineHolds({ space }: Call, tasks: readonly string[]): ExaminedHold[] {
  const examined: ExaminedHold[] = [];
  let weight = 0;
  for (const task of tasks) {
    if (weight >= maxResourcesPerCall) break;
    const hold = space.holds.get(task);
    examined.push(hold === undefined ? { task, hold: null, fault: null } : examine(space, hold));
    weight += hold === undefined ? 0 : hold.exclusive.length + hold.shared.length;
  }
  return examined;
}

function examine(space: Keyspace, hold: Hold): ExaminedHold {
  const { task, entry, status, owner, ownedAt, grantedAt, enteredAt } = hold;
  const since = timestamp(ownedAt ?? grantedAt ?? enteredAt);
  return {
    task,
    hold: { entry, status, owner: owner === null ? null : parseOwner(owner), since },
    fault: faultOf(space, hold),
  };
}

function faultOf(space: Keyspace, hold: Hold): HoldFault | null {
  const { task, status, owner, lane } = hold;
  if (status === 'entering') return { fault: 'entering' };
  if (owner !== null) {
    const registered = space.owners.has(owner) && space.registries.get(owner)?.has(task) === true;
    if (!registered) return { fault: 'unregistered' };
  } else if (status === 'granted') {
    const ready = space.lanes.has(lane) && space.ready.get(lane)?.has(hold) === true;
    if (!ready) return { fault: 'not-ready' };
  }
  const resource = lacking(space, hold);
  return resource === undefined ? null : { fault: 'lacks', resource };
}

/** A resource that the hold neither has nor waits for, as its status tells. */
function lacking(space: Keyspace, hold: Hold): string | undefined {
  const { task, status, order } = hold;
  const waitsFor = space.waits.get(task);
  const resource = findResource(hold, (name, mode) => {
    const lock = space.locks.get(name);
    const has = mode === 'exclusive' ? lock === task : lock instanceof Set && lock.has(task);
    const waits = waitsFor?.has(name) === true;
    if (has === waits) return true;
    return waits && (status !== 'queued' || space.queues.get(name)?.has({ task, mode, order }) !== true);
  });
  if (resource !== undefined) return resource;
  return status === 'queued' && waitsFor === undefined ? '' : undefined;
}

import { parseOwner } from '../../owner.js';
import type { HoldView, LockView } from '../lock-table.js';
import { compareBytes } from './bytes.js';
import { eachResource } from './resources-of.js';
import type { Hold, Keyspace, Waiter } from './table-state.js';

const maxHoldersShown = 1_000;

export function inspectLock(space: Keyspace, resource: string, waitersEach: number): LockView {
  const lock = space.locks.get(resource);
  const queue = space.queues.get(resource);
  return {
    resource,
    mode: lock === undefined ? null : typeof lock === 'string' ? 'exclusive' : 'shared',
    holders: holdersOf(lock).map((task) => holderView(task, space.holds.get(task))),
    waiting: firstOf(queue ?? [], waitersEach).map(({ task, mode }, index) => {
      return { task, mode, position: index + 1 };
    }),
    waitingCount: queue?.size ?? 0,
  };
}

export function inspectHold(space: Keyspace, task: string): HoldView | null {
  const hold = space.holds.get(task);
  if (hold === undefined) return null;
  const { entry, status, owner, fence, lane, priority, exclusive, shared, order } = hold;
  const waitsFor: HoldView['waitsFor'] = [];
  eachResource(hold, (resource, mode) => {
    if (!space.waits.get(task)?.has(resource)) return;
    const rank = space.queues.get(resource)?.rank({ task, mode, order }) ?? -1;
    waitsFor.push({ resource, mode, position: rank + 1 });
  });
  return {
    ...{ task, entry, status, fence, lane, priority, waitsFor },
    owner: owner === null ? null : parseOwner(owner),
    place: BigInt(hold.place).toString(),
    exclusive: [...exclusive],
    shared: [...shared],
    enteredAt: timestamp(hold.enteredAt),
    grantedAt: hold.grantedAt === null ? null : timestamp(hold.grantedAt),
    ownedAt: hold.ownedAt === null ? null : timestamp(hold.ownedAt),
  };
}

function holdersOf(lock: string | Set<string> | undefined): string[] {
  if (typeof lock === 'string') return [lock];
  return firstOf(lock ?? [], maxHoldersShown).sort(compareBytes);
}

function holderView(task: string, hold: Hold | undefined): LockView['holders'][number] {
  if (hold === undefined) return { task, entry: 0, owner: null, fence: null, since: timestamp(0) };
  const { entry, owner, fence, ownedAt, grantedAt, enteredAt } = hold;
  const since = timestamp(ownedAt ?? grantedAt ?? enteredAt);
  return { task, entry, owner: owner === null ? null : parseOwner(owner), fence, since };
}

function firstOf<T extends Waiter | string>(items: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length >= count) break;
    first.push(item);
  }
  return first;
}

export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

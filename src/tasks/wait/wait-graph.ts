import type { LockTable, LockView } from '../../locks/lock-table.js';
import type { Mode } from '../../resources.js';
import type { Store, WaitEdges } from '../../store/store.js';
import { awaitedBy } from '../../handler-context.js';
import { inOpenEpoch } from '../reading/in-open-epoch.js';

export interface WaitGraphPorts {
  store: Pick<Store, 'readNamespace' | 'waitEdges'>;
  table: Pick<LockTable, 'kind' | 'readEpoch' | 'inspectHold' | 'inspectLocks'>;
}

/** A chain that is longer is not followed to its end: the wait has its time limit. */
const mostNodes = 1_000;
const waitersEach = 1_000;

/** A resource that is waited for, and how many are before it in the queue. */
interface Wanted {
  mode: Mode;
  before: number;
}

/** Whom one waits for, and the resource that this is about, if it is about one. */
interface Edge {
  to: string;
  resource: string | null;
}

/** That there is a circle, with the first resource in it, if there is one. */
export interface Circle {
  resource: string | null;
}

/**
 * The circle, if `waiter`, a task or an ad-hoc lock, cannot get what it waits for before the handler of `asker` goes on;
 * else null. It follows who waits for whom: a hold for those that hold or reserve its resources and for those before it
 * in the queues, a handler for the locks and tasks that it waits for, and a lock that a handler holds for that handler.
 */
export async function waitsForHandler(
  ports: WaitGraphPorts,
  waiter: string,
  asker: string,
): Promise<Circle | null> {
  // Each that was reached, with the first resource on the way to it.
  const seen = new Map<string, string | null>([[waiter, null]]);
  let ids = [waiter];
  while (ids.length > 0 && seen.size <= mostNodes && !seen.has(asker)) {
    const next: string[] = [];
    for (const node of await ports.store.waitEdges(ids)) {
      for (const { to, resource } of await waitsOf(ports, node)) {
        if (seen.has(to)) continue;
        seen.set(to, seen.get(node.id) ?? resource);
        next.push(to);
      }
    }
    ids = next;
  }
  const resource = seen.get(asker);
  return resource === undefined ? null : { resource };
}

async function waitsOf(ports: WaitGraphPorts, node: WaitEdges): Promise<Edge[]> {
  if (node.state === 'waiting')
    return (await inOpenEpoch(ports, (epoch) => blockersOf(ports, node, epoch))) ?? [];
  if (!['running', 'canceling', 'rolling_back'].includes(node.state)) return [];
  const holder = node.lock && node.parent !== null ? [node.parent] : [];
  return [...holder, ...node.requests, ...awaitedBy(node.id)].map((to) => ({ to, resource: null }));
}

async function blockersOf(
  { table }: WaitGraphPorts,
  { id, entry, exclusive, shared }: WaitEdges,
  epoch: string,
): Promise<Edge[]> {
  const hold = await table.inspectHold(epoch, id);
  const wanted = new Map<string, Wanted>();
  if (hold?.entry === entry) {
    for (const { resource, mode, position } of hold.waitsFor)
      wanted.set(resource, { mode, before: position - 1 });
  } else {
    // Not admitted yet, it will come in behind all others.
    for (const resource of exclusive) wanted.set(resource, { mode: 'exclusive', before: Infinity });
    for (const resource of shared) wanted.set(resource, { mode: 'shared', before: Infinity });
  }
  if (wanted.size === 0) return [];
  const locks = await table.inspectLocks(epoch, [...wanted.keys()], waitersEach);
  return locks.flatMap((lock) => conflicting(lock, wanted.get(lock.resource))).filter(({ to }) => to !== id);
}

/** Readers do not wait for each other. */
function conflicting({ resource, mode, holders, waiting }: LockView, wanted: Wanted | undefined): Edge[] {
  if (wanted === undefined) return [];
  const conflicts = (other: Mode | null): boolean => wanted.mode === 'exclusive' || other === 'exclusive';
  const before = waiting.filter((other) => other.position <= wanted.before && conflicts(other.mode));
  const held = conflicts(mode) ? holders : [];
  return [...held, ...before].map(({ task }) => ({ to: task, resource }));
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Holdfast, LockPage, OwnerPage } from 'holdfast';

/**
 * How much the lock table still has of tasks that have all ended: locks and places in queues on the resources
 * that they named, and holds in the registries of owners. There must be nothing, whoever else uses the
 * namespace. A task is known to have ended before its worker releases what it held, so this looks again for a while.
 */
export async function locksLeftBy(
  hf: Holdfast,
  tasks: ReadonlySet<string>,
  resources: ReadonlySet<string>,
): Promise<number> {
  let left = await countLocks(hf, tasks, resources);
  for (let looks = 20; left > 0 && looks > 0; looks -= 1) {
    await pause(100);
    left = await countLocks(hf, tasks, resources);
  }
  return left;
}

async function countLocks(
  hf: Holdfast,
  tasks: ReadonlySet<string>,
  resources: ReadonlySet<string>,
): Promise<number> {
  let left = 0;
  for (const resource of resources) {
    const { locks }: LockPage = await hf.locks.list({ resource });
    const found = locks.flatMap(({ holders, waiting }) => [...holders, ...waiting]);
    left += found.filter(({ task }) => tasks.has(task)).length;
  }
  let after: string | null = null;
  do {
    const page: OwnerPage = await hf.locks.owners({ after });
    const holds = page.owners.flatMap((owner) => owner.holds);
    left += holds.filter(({ task }) => tasks.has(task)).length;
    after = page.next;
  } while (after !== null);
  return left;
}

import { activeOwnersKey, taskOfKey } from './keys.js';
import type { LegacyScan, ScannedOwner } from './legacy-scan.js';
import type { Pulp } from './open-pulp.js';

export interface LockOwners {
  /** In order. */
  owners: string[];
  /** Texts under `task:` that nothing else makes locks of Pulp's: other programs may use such keys. */
  foreign: string[];
}

/** Whoever may hold locks: the owners that are listed, and with a scan those that are not. */
export async function collectLockOwners(pulp: Pulp, scan: LegacyScan | null = null): Promise<LockOwners> {
  const owners = new Set<string>();
  for await (const names of pulp.redis.membersOf(activeOwnersKey)) for (const name of names) owners.add(name);
  const unlisted = [...((await scan?.owners()) ?? [])].filter(([owner]) => !owners.has(owner));
  const isOwner = await ownersAmong(pulp, unlisted);
  for (const [owner] of unlisted) if (isOwner.has(owner)) owners.add(owner);
  const foreign = unlisted.filter(([owner]) => !isOwner.has(owner)).flatMap(([, { tasks }]) => tasks);
  return { owners: [...owners].sort(), foreign };
}

/** Who holds a resource, is or was a process, or holds a task that exists. */
async function ownersAmong(pulp: Pulp, found: [string, ScannedOwner][]): Promise<Set<string>> {
  if (found.length === 0) return new Set();
  const processes = pulp.database.known ? await pulp.database.processes() : [];
  const names = new Set(processes.map(({ name }) => name));
  const ids = found.flatMap(([, { tasks }]) => tasks.map(idOf));
  const tasks = new Set((await pulp.database.tasks(ids)).map(({ id }) => id));
  const owners = found.filter(
    ([owner, locks]) =>
      locks.resources.length > 0 || names.has(owner) || locks.tasks.some((key) => tasks.has(idOf(key))),
  );
  return new Set(owners.map(([owner]) => owner));
}

function idOf(taskLock: string): string {
  return (taskOfKey(taskLock) ?? '').toLowerCase();
}

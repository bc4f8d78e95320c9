import type { Pulp } from './open-pulp.js';
import { registryKey } from './keys.js';
import { inParts, type LockFinding, releaseLocks } from './scripts.js';

/** Releases, or looks at, all that is in the registry of the owner: it costs what the owner holds. */
export async function* releaseRegistered(pulp: Pulp, owner: string): AsyncGenerator<LockFinding[]> {
  const seen = new Set<string>();
  for await (const members of pulp.redis.membersOf(registryKey(owner))) {
    // A set that is read in parts may tell a member twice.
    const locks = members.filter((key) => !seen.has(key)).sort();
    for (const key of locks) seen.add(key);
    yield* releaseEach(pulp, owner, locks);
  }
}

/** Releases, or looks at, these locks in calls that are short enough. */
export async function* releaseEach(
  pulp: Pulp,
  owner: string,
  locks: string[],
): AsyncGenerator<LockFinding[]> {
  for (const part of inParts(locks)) yield await pulp.redis.run(releaseLocks(owner, part, pulp.mode));
}

/** The keys that pulpcore's Redis workers use. Whoever may hold a lock is an owner, known by a name alone. */

/** Of all owners that may hold locks. It stays there until a clean-up drops it. */
export const activeOwnersKey = 'pulp:active_owners';

/** While it is there, nobody in the fleet scans the keyspace for locks without a registry. */
export const lastScanKey = 'pulp:last_legacy_owner_scan';

/** How long a scan keeps the others from scanning, in seconds. */
export const scanPauseSeconds = 900;

const taskPrefix = 'task:';
const resourcePrefix = 'pulp:resource_lock:';

/** What SCAN is to match: both kinds of lock in one pass over the keyspace, and little else. */
export const lockPattern = '[tp][au][sl][kp]:*';

/** The owner's registry: the set of the locks that it holds. */
export function registryKey(owner: string): string {
  return `pulp:owner_locks:${owner}`;
}

export function taskLockKey(task: string): string {
  return taskPrefix + task;
}

export function resourceLockKey(resource: string): string {
  return resourcePrefix + resource;
}

/** The id of the task that the lock is for, or null where the key is none of a task's lock. */
export function taskOfKey(key: string): string | null {
  return key.startsWith(taskPrefix) ? key.slice(taskPrefix.length) : null;
}

/** The resource that is locked, or null where the key is none of a resource's lock. */
export function resourceOfKey(key: string): string | null {
  return key.startsWith(resourcePrefix) ? key.slice(resourcePrefix.length) : null;
}

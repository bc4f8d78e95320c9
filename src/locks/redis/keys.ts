/**
 * All key and channel names of a namespace. The hash tag `{namespace}` keeps them in one Cluster slot. A name
 * that users choose (task, resource, lane, owner) is always the last part of a key, so that no name can reach
 * another key. Scripts get the same names as Lua constants, see `keyNamesInLua`.
 */

/** `{namespace}:epoch`: the epoch record, and the one key that every script is sent. */
export function epochKey(namespace: string): string {
  return `{${namespace}}:epoch`;
}

/** Wake-ups for admission. */
export function admissionWakeKey(namespace: string): string {
  return `{${namespace}}:wake`;
}

/** Who has a turn: the key expires with it. */
export function turnKey(namespace: string, turn: string): string {
  return `{${namespace}}:turn:${turn}`;
}

/** The channel that tells which tasks have settled. */
export function settledChannel(namespace: string): string {
  return `{${namespace}}:settled`;
}

/** The channel that tells which running tasks are to be stopped. */
export function cancelingChannel(namespace: string): string {
  return `{${namespace}}:canceling`;
}

/** What every key of one epoch starts with. */
export function keyspacePrefix(namespace: string, epoch: string): string {
  return `{${namespace}}:${epoch}:`;
}

/** Matches, for SCAN, the keys of every epoch. A namespace has no character that is special in a pattern. */
export function keyspacesPattern(namespace: string): string {
  return `{${namespace}}:[0-9]*`;
}

/** The epoch of a key of this namespace, or null where the key belongs to none. */
export function epochOfKey(namespace: string, key: string): string | null {
  const start = `{${namespace}}:`;
  if (!key.startsWith(start)) return null;
  return /^(\d+):/.exec(key.slice(start.length))?.[1] ?? null;
}

/** The keys of one epoch, after its prefix. Those that end in a colon are followed by a name. */
export const keyNames = {
  HOLD: 'hold:',
  WAITS: 'waits:',
  LOCK: 'lock:',
  QUEUE: 'queue:',
  READY: 'ready:',
  LANES: 'lanes',
  WAKE: 'wake:',
  REGISTRY: 'owner_locks:',
  OWNERS: 'active_owners',
  MARKS: 'marks',
  PASS: 'pass',
  ORDER: 'order',
  FENCE: 'fence',
  LANES_VERSION: 'lanes_version',
} as const;

/** Wake-ups for claims of a lane. */
export function laneWakeKey(namespace: string, epoch: string, lane: string): string {
  return keyspacePrefix(namespace, epoch) + keyNames.WAKE + lane;
}

/**
 * The names as Lua constants, for the head of every script: `EPOCH` and `ADMISSION_WAKE` are whole keys, the
 * others as in `keyNames`. Built from KEYS[1] inside the script, so they share its hash tag; ARGV[1] is the epoch.
 */
export function keyNamesInLua(): string {
  const names = Object.entries(keyNames).map(([name, text]) => `local ${name} = keyspace .. '${text}'`);
  return [
    'local EPOCH = KEYS[1]',
    "local ADMISSION_WAKE = string.sub(EPOCH, 1, -6) .. 'wake'",
    "local keyspace = string.sub(EPOCH, 1, -6) .. ARGV[1] .. ':'",
    ...names,
    '',
  ].join('\n');
}

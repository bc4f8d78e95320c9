import { readFileSync, readlinkSync } from 'node:fs';

/**
 * What tells this life of a process from every other one with the same pid, for the row of its worker: `bootId`,
 * `pidNamespace` and `startTime` (in clock ticks since boot), which Linux tells; `user`; and in Kubernetes `podUid` and
 * `container`, where the environment does.
 */
export function processIdentity(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const identity = {
    bootId: tryToRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: tryToRead(ownPidNamespace),
    startTime: tryToRead(() => startTimeIn(readFileSync('/proc/self/stat', 'utf8'))),
    user: process.getuid?.().toString(),
    podUid: environment['HOLDFAST_POD_UID'],
    container: environment['HOLDFAST_CONTAINER'],
  };
  return Object.fromEntries(
    Object.entries(identity).filter((entry): entry is [string, string] => !!entry[1]),
  );
}

/** null where /proc is that of another namespace: there, the same pid is another process. */
function ownPidNamespace(): string | null {
  return readlinkSync('/proc/self') === String(process.pid) ? readlinkSync('/proc/self/ns/pid') : null;
}

/** The 22nd field of a line of /proc/<pid>/stat. The second, the name, may hold blanks and parentheses. */
export function startTimeIn(stat: string): string | null {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function tryToRead(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    // No /proc, or not all of it.
    return null;
  }
}

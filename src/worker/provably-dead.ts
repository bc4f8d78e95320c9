import { readdirSync, readFileSync } from 'node:fs';
import type { NamedWorker } from '../store/lost-workers.js';
import { killGroup } from './process-group.js';
import { startTimeIn } from './process-identity.js';
import { watchdogVariable } from './watchdog-address.js';

/**
 * Whether the process of a worker, and every child of it, is known to be gone: it was started under the kernel and in
 * the pid namespace that `here` names, and no such process runs; or it had the very container of a pod that this
 * process has now. Children that outlived it are killed first. Where it cannot be known: false.
 */
export async function provablyDead(worker: NamedWorker, here: Record<string, string>): Promise<boolean> {
  const { identity, pid } = worker;
  if (startedHere(worker, here)) {
    if (identity['startTime'] === undefined || mayRun(pid, identity['startTime'])) return false;
    return killChildrenOf(worker, here);
  }
  return same(['podUid', 'container'], identity, here);
}

/** Whether a worker was started under the kernel and in the pid namespace that `here` names, as far as is known. */
export function startedHere(
  { identity }: Pick<NamedWorker, 'identity'>,
  here: Record<string, string>,
): boolean {
  return same(['bootId', 'pidNamespace'], identity, here);
}

/**
 * Kills the children that outlived a worker whose process is gone: its watchdogs do so unless they are frozen. Resolves
 * with whether none is left; false, too, where they could not be seen from here. Linux alone shows them.
 */
export async function killChildrenOf(
  { identity }: Pick<NamedWorker, 'identity'>,
  here: Record<string, string>,
): Promise<boolean> {
  const { watchdog } = identity;
  if (watchdog === undefined) return true;
  if (!startedHere({ identity }, here)) return false;
  return seesProcessesOf(identity, here) && killThoseWith(watchdog);
}

function same(keys: string[], one: Record<string, string>, other: Record<string, string>): boolean {
  return keys.every((key) => one[key] !== undefined && one[key] === other[key]);
}

/** A zombie runs no more. */
function mayRun(pid: number, startTime: string): boolean {
  const stat = read(`/proc/${pid}/stat`);
  // Where /proc hides the processes of others, only the signal tells that one is there.
  if (stat === null) return exists(pid);
  const [state = ''] = stat.slice(stat.lastIndexOf(')') + 2);
  return startTimeIn(stat) === startTime && !'ZX'.includes(state);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Only root is sure to see, and may kill, what another user started. */
function seesProcessesOf(identity: Record<string, string>, here: Record<string, string>): boolean {
  return here['user'] === '0' || same(['user'], identity, here);
}

/** Children carry the address of their watchdog, and lead groups of their own. */
async function killThoseWith(watchdog: string): Promise<boolean> {
  for (const leader of childrenWith(watchdog)) await killGroup(leader);
  return childrenWith(watchdog).length === 0;
}

/** By the command line or, where the task has given its process another title, by what it was started with. */
function childrenWith(watchdog: string): number[] {
  const has = (file: string, word: string): boolean => read(file)?.split('\0').includes(word) === true;
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter(
      (pid) =>
        has(`/proc/${pid}/cmdline`, watchdog) ||
        has(`/proc/${pid}/environ`, `${watchdogVariable}=${watchdog}`),
    )
    .map(Number);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It is gone, or not for us to see.
    return null;
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import type { NamedWorker } from '../store/lost-workers.js';
import { killGroup } from './process-group.js';
import { startTimeIn } from './process-identity.js';

/**
 * Whether the process of a worker, and every child of it, is known to be gone: it was started under the kernel and in
 * the pid namespace that `here` names, and no such process runs; or it had the very container of a pod that this
 * process has now. Children that outlived it are killed first. Where it cannot be known: false.
 */
export async function provablyDead(worker: NamedWorker, here: Record<string, string>): Promise<boolean> {
  const { identity, pid } = worker;
  if (same(['bootId', 'pidNamespace'], identity, here)) {
    if (identity['startTime'] === undefined || runs(pid, identity['startTime'])) return false;
    const { watchdog } = identity;
    return watchdog === undefined || (await killThoseWith(watchdog));
  }
  return same(['podUid', 'container'], identity, here);
}

function same(keys: string[], one: Record<string, string>, other: Record<string, string>): boolean {
  return keys.every((key) => one[key] !== undefined && one[key] === other[key]);
}

/** A zombie runs no more. */
function runs(pid: number, startTime: string): boolean {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return false;
  const [state = ''] = stat.slice(stat.lastIndexOf(')') + 2);
  return startTimeIn(stat) === startTime && !'ZX'.includes(state);
}

/** Children carry the address of their watchdog on their command line, and lead groups of their own. */
async function killThoseWith(watchdog: string): Promise<boolean> {
  const found = (): number[] =>
    readdirSync('/proc')
      .filter(
        (pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/cmdline`)?.split('\0').includes(watchdog) === true,
      )
      .map(Number);
  for (const leader of found()) await killGroup(leader);
  return found().length === 0;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It is gone, or not for us to see.
    return null;
  }
}

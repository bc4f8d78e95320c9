import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Signals every process of the group that `leader` leads. `gone` where none is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals): 'signalled' | 'gone' {
  try {
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
    return 'signalled';
  } catch (error) {
    // EPERM: what is left changed its user and cannot be signalled by us.
    if (['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return 'gone';
    throw error;
  }
}

/**
 * SIGKILLs a group until no process of it runs, for at most `limitMs`: a killed process may still run for a
 * moment.
 */
export async function killGroup(leader: number, limitMs = 1_000): Promise<void> {
  const started = performance.now();
  while (signalGroup(leader, 'SIGKILL') === 'signalled' && performance.now() - started < limitMs) {
    if (onlyZombiesIn(leader)) return;
    await pause(5);
  }
}

/** The dead can be signalled until they are collected, and not every container's init does that soon. */
function onlyZombiesIn(group: number): boolean {
  if (process.platform !== 'linux') return false;
  return readdirSync('/proc').every((pid) => !/^\d+$/.test(pid) || !runsIn(group, pid));
}

function runsIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', , groupOfIt] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(groupOfIt) === group && !'ZX'.includes(state);
  } catch {
    // It has gone meanwhile.
    return false;
  }
}

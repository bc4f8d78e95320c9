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
 * SIGKILLs a group until no process of it is left, for at most `limitMs`: a killed process may still run for a
 * moment, and a dead one counts until its parent has collected it, which not every container's init does.
 */
export async function killGroup(leader: number, limitMs = 1_000): Promise<void> {
  const started = performance.now();
  while (signalGroup(leader, 'SIGKILL') === 'signalled' && performance.now() - started < limitMs) {
    await pause(5);
  }
}

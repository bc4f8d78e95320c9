import { readFileSync } from 'node:fs';

/** Whether a process runs. A zombie, dead and not yet collected by its parent, does not. */
export function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    // The state follows the command name, which stands in parentheses and may contain any character.
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').slice(0, 4));
  } catch {
    return false;
  }
}

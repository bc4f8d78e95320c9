import { readdirSync, readFileSync } from 'node:fs';

/** The processes that this one has started, directly. */
export function childrenOf(parent: number): number[] {
  return allProcesses().filter((pid) => parentOf(pid) === parent);
}

/** Every process that was started with such a variable in its environment, by whomever. */
export function processesWith(name: string, value: string): number[] {
  return allProcesses().filter(
    (pid) => pid !== process.pid && environmentOf(pid).includes(`${name}=${value}`),
  );
}

/** Sends it wherever that process still is. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number | null {
  // The fields follow the command name, which stands in parentheses and may contain any character.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\)\s/s, '')
    .split(' ');
  return fields[1] === undefined ? null : Number(fields[1]);
}

function environmentOf(pid: number): string[] {
  return read(`/proc/${pid}/environ`).split('\0');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

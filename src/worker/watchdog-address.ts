import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The longest path of a Unix-domain socket that every platform takes. */
const longestPath = 100;

/**
 * A new address for a heartbeat's socket. On Linux an abstract one, which leaves nothing behind when the process
 * is killed; elsewhere a path in a folder of its own. What is told there is no secret: moments of a clock.
 */
export function newWatchdogAddress(platform: NodeJS.Platform = process.platform): string {
  const name = `holdfast-${randomBytes(12).toString('hex')}`;
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const path = join(tmpdir(), name, 'watchdog');
  return path.length <= longestPath ? path : join('/tmp', name, 'watchdog');
}

/** Where the environment that a child is started with has the mark. */
export const watchdogVariable = 'HOLDFAST_WATCHDOG';

/** The same as a word of a command line. */
export function watchdogMark(address: string): string {
  return address.replace('\0', '@');
}

/** Makes the folder of a path, for this user only. Throws where somebody else made it first. */
export function makeFolderOf(address: string): void {
  if (isPath(address)) mkdirSync(dirname(address), { mode: 0o700 });
}

export function removeFolderOf(address: string): void {
  if (isPath(address)) rmSync(dirname(address), { recursive: true, force: true });
}

function isPath(address: string): boolean {
  return address.startsWith('/');
}

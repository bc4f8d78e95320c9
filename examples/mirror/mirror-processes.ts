import { findRunning, noteDeath } from './journal.js';
import { layoutOf } from './layout.js';

/** Which task of the mirror runs in which process, as far as the tasks have told. */
export async function runningInMirror(mirror: string): Promise<{ task: string; pid: number }[]> {
  return await findRunning(layoutOf(mirror));
}

/** To be told by whoever kills a process of the mirror, before anybody else can have what its task held. */
export async function deathInMirror(mirror: string, pid: number): Promise<void> {
  await noteDeath(layoutOf(mirror), pid);
}

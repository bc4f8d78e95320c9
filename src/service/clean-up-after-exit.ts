import { setTimeout as pause } from 'node:timers/promises';
import type { Recovery } from '../recovery/recovery.js';
import type { NamedWorker } from '../store/lost-workers.js';
import { cleanupLocksForWorker } from '../recovery/cleanup-locks-for-worker.js';
import { backoffMs, outageBackoff } from '../worker/backoff.js';
import { processIdentity } from '../worker/process-identity.js';
import { provablyDead, startedHere } from '../worker/provably-dead.js';

/** A child process of this one that has exited, and the name of the worker that it was. */
export interface ExitedProcess {
  name: string;
  pid: number;
}

/**
 * Settles at once what a worker process that has exited ran and held, and tries again until nothing of it is left,
 * whoever cleans it up, or `signal` aborts. Never rejects. Where the system does not tell one life of a process from
 * another, as on anything but Linux, it does nothing: the worker is dead to others after its TTL.
 */
export async function cleanUpAfterExit(
  recovery: Recovery,
  exited: ExitedProcess,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    if (await cleanUp(recovery, exited)) return;
    await pause(backoffMs(outageBackoff, failures), undefined, { signal }).catch(() => {});
  }
  recovery.log.error({ ...exited }, 'what a lost worker process held is left to others');
}

async function cleanUp(recovery: Recovery, { name, pid }: ExitedProcess): Promise<boolean> {
  const { store, log } = recovery;
  const here = processIdentity();
  try {
    const named = await store.workersNamed(name);
    const rows = named.filter((row) => row.pid === pid && startedHere(row, here));
    const done = await Promise.all(rows.map((row) => cleanUpRow(recovery, { ...row, name }, here)));
    return done.every(Boolean);
  } catch (error) {
    log.warn({ err: error, worker: name, pid }, 'a lost worker process is cleaned up after later');
    return false;
  }
}

/** G5: never rejects, so that none keeps another back. */

async function cleanUpRow(
  recovery: Recovery,
  worker: NamedWorker & { name: string },
  here: Record<string, string>,
): Promise<boolean> {
  const { store, log } = recovery;
  const { name, incarnation, pid, reaped } = worker;
  const fields = { worker: name, incarnation, pid };
  try {
    if (!reaped) {
      // G1: its children end first.
      if (!(await provablyDead(worker, here))) return false;
      // Whatever its counter: a beat that was under way when it died proves nothing.
      await store.reapWorker(incarnation);
    }
  } catch (error) {
    log.error({ err: error, ...fields }, 'a lost worker process could not be declared dead');
    return false;
  }
  const done = await cleanupLocksForWorker(recovery, { name, incarnation });
  if (done) log.info(fields, 'cleaned up after a lost worker process');
  return done;
}

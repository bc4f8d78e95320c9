import type { Logger } from '../log.js';
import type { Worker } from '../holdfast/worker.js';
import { exitStatus } from './exit-status.js';
import { watchForInterruption } from './interruption.js';
import { writeJson } from './write-output.js';

/** To say why; then the process ends, with whatever still runs in it. Where it does not, its heartbeat kills it. */
const fencedGraceMs = 50;

/**
 * Runs the worker until SIGTERM, SIGINT or the end of the process that started this one asks it to stop in
 * order. Rejects with Fenced where it may no longer act.
 */
export async function runWorker(worker: Worker, log: Logger): Promise<void> {
  using interruption = watchForInterruption();
  worker.on('ready', (owner) => {
    log.info(owner, 'takes tasks');
    void writeJson({ ready: true, ...owner });
  });
  // G1: another worker may take its tasks over; nothing here may outlive that, whatever it waits for.
  worker.on('fenced', () => setTimeout(() => process.exit(exitStatus.badNews), fencedGraceMs));
  const stop = (): void => {
    log.info({}, 'stops: takes no more tasks, and waits for those that run');
    void worker.stop();
  };
  interruption.signal.addEventListener('abort', stop);
  // A parent that keeps a channel open is a supervisor: its tasks must not outlive it unseen.
  process.once('disconnect', stop);
  // Gone already. Without such a parent this is undefined.
  if (Object.is(process.connected, false)) stop();
  try {
    await worker.run();
  } finally {
    process.removeListener('disconnect', stop);
    if (process.connected) process.disconnect();
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Held } from './demo-crash-holds.js';
import type { Crash } from './demo-crash-report.js';
import type { DemoJob } from './demo-job.js';
import type { DemoWorkerProcesses } from './demo-workers.js';
import { killChild } from './demo-crash-child.js';
import { areRecovered, countLocks, heldByWorker, locksText, msUntil } from './demo-crash-holds.js';
import { leaveOrphan } from './demo-crash-orphan.js';

const settledBefore = 20;
const limitMs = 60_000;

/** Leaves an orphan, and kills first a child of a worker and then a whole worker, while the job runs. */
export async function crashOnServers(job: DemoJob, workers: DemoWorkerProcesses): Promise<Crash[]> {
  const orphan = leaveOrphan(job);
  orphan.catch(() => {});
  await job.settled(settledBefore);
  const child = await killChild(job);
  const worker = await killWorker(job, workers);
  return [child, worker, await orphan];
}

/** SIGKILLs a worker that holds locks, and starts another one under its name at once. */
async function killWorker(job: DemoJob, workers: DemoWorkerProcesses): Promise<Crash> {
  const { hf, progress, signal } = job;
  const { name, held, since } = await killOneThatHolds(job, workers);
  const locks = countLocks(held);
  await progress.step(`Killed worker process ${name}, which held ${locksText(locks)}; it is started again.`);
  const [ms] = await Promise.all([
    msUntil(() => areRecovered(hf, held), { since, limitMs, signal }),
    workers.restart(name),
  ]);
  return { what: 'worker process', locks, ms };
}

async function killOneThatHolds(
  { hf, signal }: DemoJob,
  workers: DemoWorkerProcesses,
): Promise<{ name: string; held: Held[]; since: number }> {
  for (;;) {
    signal.throwIfAborted();
    for (const name of workers.names) {
      const worker = workers.processOf(name);
      let held: Held[] = [];
      // What it is seen to hold it holds when it dies.
      worker.freeze();
      try {
        held = await heldByWorker(hf, name);
      } finally {
        if (held.length === 0) worker.wake();
      }
      if (held.length === 0) continue;
      const since = performance.now();
      await worker.kill();
      return { name, held, since };
    }
    await pause(20);
  }
}

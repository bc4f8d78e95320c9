import { setTimeout as pause } from 'node:timers/promises';
import type { FromLife, LifeOrder } from './demo-crash-life.js';
import type { Held } from './demo-crash-holds.js';
import type { Crash } from './demo-crash-report.js';
import type { DemoJob } from './demo-job.js';
import type { DemoWorkers } from './demo-workers.js';
import type { Trouble } from './demo.js';
import type { MirrorDemo } from './mirror-demo.js';
import { killChild } from './demo-crash-child.js';
import { areRecovered, heldByWorker, msUntil } from './demo-crash-holds.js';
import { leaveOrphan } from './demo-crash-orphan.js';
import { crashing, startWorkerInside, tasksOfCrashDemo } from './demo-workers.js';
import { runTroubledDemo } from './demo.js';

type Tell = (message: FromLife) => Promise<void>;

const settledBefore = 30;
const limitMs = 60_000;
/** Long enough for any parent to kill this process. */
const standStillMs = 10_000;

/** Kills a child in the middle of the job; then tells what this process holds, and waits to be killed. */
export async function liveUntilKilled(demo: MirrorDemo, order: LifeOrder, tell: Tell): Promise<void> {
  await runTroubledDemo(
    demo,
    order,
    troubleOf(order, async (job) => {
      await job.settled(settledBefore);
      await tell({ told: 'crash', crash: await killChild(job) });
      await tell({ told: 'held', held: await heldByThis(job, order.worker) });
      standStill();
      return [];
    }),
  );
}

/** Tells when what the killed process held is recovered, leaves an orphan, and runs the job to its end. */
export async function liveAgain(demo: MirrorDemo, order: LifeOrder, tell: Tell): Promise<void> {
  const { result, crashes } = await runTroubledDemo(
    demo,
    order,
    troubleOf(order, async (job) => {
      await tell({ told: 'recovered', held: await recover(job, order.heldBefore ?? []) });
      return [await leaveOrphan(job)];
    }),
  );
  for (const crash of crashes) await tell({ told: 'crash', crash });
  await tell({ told: 'result', result });
}

function troubleOf({ worker }: LifeOrder, cause: (job: DemoJob) => Promise<Crash[]>): Trouble<DemoWorkers> {
  const startWorkers: Trouble<DemoWorkers>['startWorkers'] = ({ hf }, _global, kind) =>
    startWorkerInside(hf, kind, worker);
  return { kind: crashing, tasks: tasksOfCrashDemo, startWorkers, cause };
}

async function heldByThis({ hf, signal }: DemoJob, worker: string): Promise<Held[]> {
  for (;;) {
    signal.throwIfAborted();
    const held = await heldByWorker(hf, worker);
    if (held.length > 0) return held;
    await pause(5);
  }
}

/** Nothing is written any more by this process, so what was seen is what it dies with. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, standStillMs);
}

/** Resolves with what is recovered, without what had ended before the kill. */
async function recover({ hf, signal }: DemoJob, held: Held[]): Promise<Held[]> {
  const since = performance.now();
  if ((await msUntil(() => areRecovered(hf, held), { since, limitMs, signal })) === null) return [];
  const rows = await Promise.all(held.map(({ task }) => hf.tasks.get(task)));
  return held.filter(({ entry }, at) => (rows[at]?.entry ?? entry) > entry);
}

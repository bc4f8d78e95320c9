import { setTimeout as pause } from 'node:timers/promises';
import type { Held } from './demo-crash-holds.js';
import type { Crash } from './demo-crash-report.js';
import type { DemoJob } from './demo-job.js';
import { areRecovered, countLocks, heldByTask, locksText, msUntil } from './demo-crash-holds.js';

const limitMs = 30_000;

/** SIGKILLs a child process in the middle of a task that holds locks. Resolves when they are free. */
export async function killChild(job: DemoJob): Promise<Crash> {
  const { hf, progress, signal } = job;
  for (;;) {
    const { held, since } = await killOneThatHolds(job);
    await progress.step(`Killed a child process in its task, which held ${locksText(countLocks([held]))}.`);
    const ms = await msUntil(() => areRecovered(hf, [held]), { since, limitMs, signal });
    const { entry, state } = await hf.tasks.get(held.task);
    // Otherwise its result was on the way to the worker already.
    if (state !== 'completed' || entry > held.entry) {
      return { what: 'child process', locks: countLocks([held]), ms };
    }
  }
}

async function killOneThatHolds(job: DemoJob): Promise<{ held: Held; since: number }> {
  const { demo, mirror, signal } = job;
  for (;;) {
    signal.throwIfAborted();
    for (const { task, pid } of await demo.runningInMirror(mirror)) {
      const held = await killIfItHolds(job, task, pid);
      if (held !== null) return { held, since: performance.now() };
    }
    await pause(5);
  }
}

/** It is frozen while it is looked at, so that what it is seen to hold it holds when it dies. */
async function killIfItHolds({ hf, demo, mirror }: DemoJob, task: string, pid: number): Promise<Held | null> {
  if (!signalProcess(pid, 'SIGSTOP')) return null;
  let held: Held | null = null;
  try {
    held = await heldByTask(hf, task);
    if (held !== null) await demo.deathInMirror(mirror, pid);
  } finally {
    signalProcess(pid, held === null ? 'SIGCONT' : 'SIGKILL');
  }
  return held;
}

/** Whether it was there. */
function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

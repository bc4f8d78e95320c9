import type { Holdfast } from 'holdfast';
import type { MirrorReport } from './mirror-report.js';
import type { PreparedMirror } from './prepare-mirror.js';
import { dispatchWorkload } from './dispatch-workload.js';
import { FollowedTasks } from './followed-tasks.js';
import { mirrorReport } from './mirror-report.js';
import { QueueWatch } from './queue-watch.js';
import { gc, publish, sync } from './tasks.js';
import { unsettledTasks } from './unsettled-tasks.js';

export interface MirrorOptions {
  /** How many tasks to run at least, those left by an earlier run included. */
  tasks: number;
  /** Called every now and then, with what there is to show. */
  onProgress: (progress: MirrorProgress) => void;
  /** Ends the run early, with the signal's reason, when what was dispatched has ended. */
  signal: AbortSignal;
}

export interface MirrorProgress {
  dispatched: number;
  settled: number;
  longestQueue: number;
}

/**
 * Mirrors the packages while their sources change, waits for all of it, and verifies what came of it. The
 * workers run elsewhere. Tasks that an earlier run on the same mirror has left are waited for as well.
 */
export async function runMirror(
  hf: Holdfast,
  prepared: PreparedMirror,
  { tasks, onProgress, signal }: MirrorOptions,
): Promise<MirrorReport> {
  const followed = new FollowedTasks(hf);
  const queue = new QueueWatch(hf, 'store');
  if (prepared.resumes) {
    for (const { name } of [sync, gc, publish]) followed.follow(await unsettledTasks(hf, name));
  }
  const resumed = followed.followed;
  queue.start(() =>
    onProgress({
      dispatched: followed.followed,
      settled: followed.settled.length,
      longestQueue: queue.longest,
    }),
  );
  try {
    await dispatchWorkload({ hf, ...prepared, followed, tasks, signal });
    // Also after an abort: what waits would fail when its folder is gone.
    await followed.fewerThan(1);
    signal.throwIfAborted();
  } finally {
    await queue.stop();
  }
  return await mirrorReport(hf, prepared, {
    tasks: followed.settled,
    resumed,
    longestQueue: queue.longest,
  });
}

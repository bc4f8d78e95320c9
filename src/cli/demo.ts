import type { DemoSetting } from './demo-setting.js';
import type { GlobalOptions } from './global-options.js';
import type { MirrorDemo, MirrorReport } from './mirror-demo.js';
import type { Holdfast } from '../holdfast.js';
import { DemoProgress } from './demo-progress.js';
import { startWorkerInside, startWorkerProcesses } from './demo-workers.js';
import { watchForInterruption } from './interruption.js';
import { demoStartText } from './demo-text.js';
import { openHoldfast } from './with-holdfast.js';

export interface DemoResult extends MirrorReport {
  mode: DemoSetting['mode'];
  /** How many workers there were, and how many tasks all of them could run at once. */
  workers: number;
  slots: number;
  seconds: number;
}

/** Runs the mirror in this setting. Leaves its folders as they are. */
export async function runDemo(
  demo: MirrorDemo,
  setting: DemoSetting,
  global: GlobalOptions,
): Promise<DemoResult> {
  using interruption = watchForInterruption();
  const started = performance.now();
  const progress = new DemoProgress();
  if (setting.mode === 'embedded') await progress.step('Opening the embedded database …');
  const { hf } = await openHoldfast(placeOf(setting, global), { tasks: demo.tasks });
  try {
    await hf.migrate();
    const { workers, slots, report } = await runOn(hf, demo, {
      ...{ setting, global, progress },
      signal: interruption.signal,
    });
    const seconds = Math.round(performance.now() - started) / 1_000;
    const { ok, tasks, verified, locksLeft, ...others } = report;
    return { ok, tasks, verified, locksLeft, seconds, mode: setting.mode, workers, slots, ...others };
  } finally {
    await hf.close();
  }
}

function placeOf({ dataDir, namespace }: DemoSetting, global: GlobalOptions): GlobalOptions {
  const place = { ...global, ...(namespace !== undefined && { namespace }) };
  return dataDir === null ? place : { ...place, embedded: true, dataDir };
}

interface RunSetting {
  setting: DemoSetting;
  global: GlobalOptions;
  progress: DemoProgress;
  signal: AbortSignal;
}

async function runOn(
  hf: Holdfast,
  demo: MirrorDemo,
  { setting, global, progress, signal }: RunSetting,
): Promise<{ workers: number; slots: number; report: MirrorReport }> {
  signal.throwIfAborted();
  await progress.step(`Copying packages to ${setting.mirror} …`);
  const prepared = await demo.prepareMirror(setting.mirror);
  signal.throwIfAborted();
  const workers = setting.workerProcesses
    ? await startWorkerProcesses(placeOf(setting, global))
    : await startWorkerInside(hf);
  try {
    await progress.step(demoStartText(prepared, setting, workers));
    const run = demo.runMirror(hf, prepared, {
      signal,
      onProgress: (state) => progress.show(state),
    });
    const report = await Promise.race([run, workers.failed]);
    return { workers: workers.workers, slots: workers.slots, report };
  } finally {
    await progress.end();
    await workers.stop();
  }
}

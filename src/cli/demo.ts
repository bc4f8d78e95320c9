import type { Crash, Recovered } from './demo-crash-report.js';
import type { DemoJob } from './demo-job.js';
import type { DemoPlace } from './demo-place.js';
import type { DemoSetting } from './demo-setting.js';
import type { DemoWorkers, WorkersKind } from './demo-workers.js';
import type { GlobalOptions } from './global-options.js';
import type { MirrorDemo, MirrorReport } from './mirror-demo.js';
import { SettledCount } from './demo-job.js';
import { openDemoPlace } from './demo-place.js';
import { DemoProgress } from './demo-progress.js';
import { demoStartText } from './demo-text.js';
import { calm, startWorkerInside, startWorkerProcesses } from './demo-workers.js';
import { watchForInterruption } from './interruption.js';

export interface DemoResult extends MirrorReport {
  mode: DemoSetting['mode'];
  /** How many workers there were, and how many tasks all of them could run at once. */
  workers: number;
  slots: number;
  seconds: number;
  /** Where crashes were asked for. */
  recovered?: Recovered[];
}

export interface DemoOptions {
  setting: Omit<DemoSetting, 'remove'>;
  global: GlobalOptions;
}

/** What happens to the job while it runs. */
export interface Trouble<Workers extends DemoWorkers> {
  kind: WorkersKind;
  /** How many tasks to run at least. */
  tasks: number;
  startWorkers(place: DemoPlace, global: GlobalOptions, kind: WorkersKind): Promise<Workers>;
  cause(job: DemoJob, workers: Workers): Promise<Crash[]>;
}

const noTrouble: Omit<Trouble<DemoWorkers>, 'startWorkers'> = {
  kind: calm,
  tasks: 260,
  cause: async () => [],
};

/** Runs the mirror in this setting. Leaves its folders as they are. */
export async function runDemo(demo: MirrorDemo, options: DemoOptions): Promise<DemoResult> {
  const { workerProcesses } = options.setting;
  const startWorkers: Trouble<DemoWorkers>['startWorkers'] = ({ hf }, global, kind) =>
    workerProcesses ? startWorkerProcesses(global, kind) : startWorkerInside(hf, kind, `demo-${process.pid}`);
  const { result } = await runTroubledDemo(demo, options, { ...noTrouble, startWorkers });
  return result;
}

/** The same with what happens to it. */
export async function runTroubledDemo<Workers extends DemoWorkers>(
  demo: MirrorDemo,
  options: DemoOptions,
  trouble: Trouble<Workers>,
): Promise<{ result: DemoResult; crashes: Crash[] }> {
  using interruption = watchForInterruption();
  const started = performance.now();
  const progress = new DemoProgress();
  const { setting } = options;
  if (setting.mode === 'embedded') await progress.step('Opening the embedded database …');
  const global = placeOf(options);
  const place = await openDemoPlace(global, demo, 'warn');
  try {
    const run = { demo, setting, global, progress, signal: interruption.signal };
    const { workers, slots, report, crashes } = await runOn(place, run, trouble);
    const seconds = Math.round(performance.now() - started) / 1_000;
    const { ok, tasks, verified, locksLeft, ...others } = report;
    const result = { ok, tasks, verified, locksLeft, seconds, mode: setting.mode, workers, slots, ...others };
    return { result, crashes };
  } finally {
    await place.hf.close();
  }
}

function placeOf({ setting: { dataDir, namespace }, global }: DemoOptions): GlobalOptions {
  const place = { ...global, ...(namespace !== undefined && { namespace }) };
  return dataDir === null ? place : { ...place, embedded: true, dataDir };
}

interface Run extends DemoOptions {
  demo: MirrorDemo;
  progress: DemoProgress;
  signal: AbortSignal;
}

async function runOn<Workers extends DemoWorkers>(
  place: DemoPlace,
  { demo, setting, global, progress, signal }: Run,
  { kind, tasks, startWorkers, cause }: Trouble<Workers>,
): Promise<{ workers: number; slots: number; report: MirrorReport; crashes: Crash[] }> {
  signal.throwIfAborted();
  await progress.step(`Copying packages to ${setting.mirror} …`);
  const prepared = await demo.prepareMirror(setting.mirror);
  signal.throwIfAborted();
  const workers = await startWorkers(place, global, kind);
  try {
    await progress.step(demoStartText(prepared, setting, workers));
    const settled = new SettledCount();
    const onProgress: Parameters<MirrorDemo['runMirror']>[2]['onProgress'] = (state) => {
      progress.show(state);
      settled.note(state);
    };
    const job = { ...place, demo, mirror: setting.mirror, workers, progress, signal };
    const run = demo.runMirror(place.hf, prepared, { tasks, signal, onProgress });
    const causing = cause({ ...job, settled: (tasks) => settled.reaches(tasks, signal) }, workers);
    causing.catch(() => {});
    const report = await Promise.race([run, workers.failed]);
    const crashes = await Promise.race([causing, workers.failed]);
    return { workers: workers.names.length, slots: workers.slots, report, crashes };
  } finally {
    await progress.end();
    await workers.stop();
  }
}

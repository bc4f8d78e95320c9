import type { DemoOptions, DemoResult } from './demo.js';
import { runEmbeddedCrashDemo } from './demo-crash-embedded.js';
import { withCrashes } from './demo-crash-report.js';
import { crashOnServers } from './demo-crash-servers.js';
import { crashing, startWorkerProcesses, tasksOfCrashDemo } from './demo-workers.js';
import { runTroubledDemo } from './demo.js';
import { loadMirrorDemo } from './mirror-demo.js';

/** Runs the mirror while a child, a whole process and an owner of locks die. Leaves its folders as they are. */
export async function runCrashDemo(options: DemoOptions): Promise<DemoResult> {
  if (options.setting.mode === 'embedded') return await runEmbeddedCrashDemo(options);
  const { result, crashes } = await runTroubledDemo(await loadMirrorDemo(), options, {
    kind: crashing,
    tasks: tasksOfCrashDemo,
    startWorkers: (_place, global, kind) => startWorkerProcesses(global, kind),
    cause: crashOnServers,
  });
  return withCrashes(result, crashes);
}

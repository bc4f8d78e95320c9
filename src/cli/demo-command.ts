import { Command } from 'commander';
import type { DemoResult } from './demo.js';
import type { DemoSetting } from './demo-setting.js';
import type { GlobalOptions } from './global-options.js';
import { runCrashDemo } from './demo-crash.js';
import { demoSetting } from './demo-setting.js';
import { demoHints, demoText } from './demo-text.js';
import { runDemo } from './demo.js';
import { exitStatus } from './exit-status.js';
import { onInvocation } from './invocation.js';
import { loadMirrorDemo } from './mirror-demo.js';
import { writeJson, writeNote, writeResult } from './write-output.js';

const about = `
Mirrors real packages from the nearest node_modules into a content-addressed store: hundreds of tasks that must
not collide, on packages that change meanwhile. Then it verifies the outcome.

Without URLs it needs no server: all happens in this process and in a temporary folder. With --data-dir it keeps
its data there; a demo that was killed in the middle is gone on with when started again. With both URLs it runs
on the real servers with several worker processes.

With --crash it kills, in the middle of the job, a child process that runs a task, and then a whole worker process, which
is started again (embedded: the whole program); and it leaves a lock whose owner nobody knows any more. It tells how
long each took until all was recovered, and is ok only where all was.
`;

export function demoCommand(): Command {
  const command = new Command('demo')
    .description('run the main job on real files, and verify it')
    .option('--once', 'end with the result, without a hint at what to do next')
    .option('--crash', 'kill processes in the middle, and tell what was recovered and how soon')
    .addHelpText('after', about);
  return onInvocation<{ once?: boolean; crash?: boolean }>(command, async ({ flags, global }) => {
    const { crash = false } = flags;
    const setting = await demoSetting(global, process.env, crash);
    const result = await runInSetting(setting, global, crash);
    if (global.json === true) await writeJson(result);
    else await writeResult(demoText(result));
    if (!result.ok) process.exitCode = exitStatus.badNews;
    if (!result.ok) await writeNote(`The mirror was left at ${setting.mirror}\n`);
    else if (flags.once !== true && global.json !== true) await writeNote(demoHints(setting));
  });
}

/** What did not verify is left to be looked at, and what was interrupted to be gone on with. */
async function runInSetting(
  { remove, ...setting }: DemoSetting,
  global: GlobalOptions,
  crash: boolean,
): Promise<DemoResult> {
  let finished: DemoResult | null = null;
  try {
    const options = { setting, global };
    finished = crash ? await runCrashDemo(options) : await runDemo(await loadMirrorDemo(), options);
    return finished;
  } finally {
    if (finished === null ? setting.temporary : finished.ok) await remove();
  }
}

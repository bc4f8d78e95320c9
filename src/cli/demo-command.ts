import { Command } from 'commander';
import type { DemoResult } from './demo.js';
import type { DemoSetting } from './demo-setting.js';
import type { GlobalOptions } from './global-options.js';
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
`;

export function demoCommand(): Command {
  const command = new Command('demo')
    .description('run the main job on real files, and verify it')
    .option('--once', 'end with the result, without a hint at what to do next')
    .addHelpText('after', about);
  return onInvocation<{ once?: boolean }>(command, async ({ flags, global }) => {
    const setting = await demoSetting(global, process.env);
    const result = await runInSetting(setting, global);
    if (global.json === true) await writeJson(result);
    else await writeResult(demoText(result));
    if (!result.ok) process.exitCode = exitStatus.badNews;
    if (!result.ok) await writeNote(`The mirror was left at ${setting.mirror}\n`);
    else if (flags.once !== true && global.json !== true) await writeNote(demoHints(setting));
  });
}

/** What did not verify is left to be looked at, and what was interrupted to be gone on with. */
async function runInSetting(setting: DemoSetting, global: GlobalOptions): Promise<DemoResult> {
  let finished: DemoResult | null = null;
  try {
    finished = await runDemo(await loadMirrorDemo(), setting, global);
    return finished;
  } finally {
    if (finished === null ? setting.temporary : finished.ok) await setting.remove();
  }
}

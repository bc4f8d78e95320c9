import { once } from 'node:events';
import type { FromLife, LifeOrder } from './demo-crash-life.js';
import { HoldfastError } from '../errors.js';
import { liveAgain, liveUntilKilled } from './demo-crash-lives.js';
import { exitStatus } from './exit-status.js';
import { loadMirrorDemo } from './mirror-demo.js';

/** The embedded process of a demo with crashes: does what it is ordered, and tells the process that started it. */
async function main(): Promise<void> {
  const [order] = (await once(process, 'message')) as [LifeOrder];
  // Nobody is there any more who could be told. What runs in children ends with this process.
  process.once('disconnect', () => process.exit(exitStatus.badNews));
  const live = order.heldBefore === null ? liveUntilKilled : liveAgain;
  await live(await loadMirrorDemo(), order, tell);
}

async function tell(message: FromLife): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

try {
  await main();
} catch (error) {
  const code = error instanceof HoldfastError ? error.code : null;
  await tell({ told: 'failure', code, message: error instanceof Error ? error.message : String(error) });
}
process.removeAllListeners('disconnect');
process.disconnect();

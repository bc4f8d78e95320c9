import type { Held } from './demo-crash-holds.js';
import type { Crash } from './demo-crash-report.js';
import type { DemoOptions, DemoResult } from './demo.js';
import { countLocks, locksText } from './demo-crash-holds.js';
import { runLife } from './demo-crash-life.js';
import { withCrashes } from './demo-crash-report.js';
import { watchForInterruption } from './interruption.js';
import { writeNote } from './write-output.js';

interface Killed {
  held: Held[];
  since: number;
}

/**
 * Runs the embedded demo in a process of its own, which kills one of its children; SIGKILLs that process in the middle
 * of the job; and starts another one on the same data under the same worker name, which goes on and leaves an orphan.
 */
export async function runEmbeddedCrashDemo(options: DemoOptions): Promise<DemoResult> {
  using interruption = watchForInterruption();
  const { signal } = interruption;
  const started = performance.now();
  const worker = `demo-${process.pid}`;
  const crashes: Crash[] = [];
  const killed = await runUntilKilled({ ...options, worker, heldBefore: null }, signal, crashes);
  const result = await runToItsEnd({ ...options, worker, heldBefore: killed.held }, signal, crashes, killed);
  const seconds = Math.round(performance.now() - started) / 1_000;
  return withCrashes({ ...result, seconds }, crashes);
}

async function runUntilKilled(
  order: Parameters<typeof runLife>[0],
  signal: AbortSignal,
  crashes: Crash[],
): Promise<Killed> {
  let killed: Killed | null = null;
  await runLife(order, signal, (message, life) => {
    if (message.told === 'crash') crashes.push(message.crash);
    if (message.told !== 'held') return;
    killed = { held: message.held, since: performance.now() };
    life.kill('SIGKILL');
  });
  if (killed === null) throw new Error('The process of the demo ended before it was killed.');
  const { held } = killed as Killed;
  await writeNote(
    `Killed the whole process, which held ${locksText(countLocks(held))}. Starting it again.\n`,
  );
  return killed;
}

async function runToItsEnd(
  order: Parameters<typeof runLife>[0],
  signal: AbortSignal,
  crashes: Crash[],
  { since }: Killed,
): Promise<DemoResult> {
  let result: DemoResult | null = null;
  await runLife(order, signal, (message) => {
    if (message.told === 'recovered') {
      const ms = message.held.length === 0 ? null : Math.round(performance.now() - since);
      crashes.push({ what: 'whole process', locks: countLocks(message.held), ms });
    } else if (message.told === 'crash') crashes.push(message.crash);
    else if (message.told === 'result') result = message.result;
  });
  if (result === null) throw new Error('The process of the demo ended before its job did.');
  return result;
}

import { faultPoint } from '../fault-points.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Heartbeat } from './heartbeat.js';
import type { Incarnation } from './incarnation.js';
import type { WorkerParts } from './worker-parts.js';
import { inCurrentOrNextEpoch } from '../recovery/in-current-epoch.js';

/** How long what is still to be written may take, in milliseconds, before it is left to whoever sweeps. */
const defaultDrainLimitMs = 15_000;
const drainPollMs = 10;

/** How long handlers may take to heed their signals, in milliseconds; children are killed before. */
const heedLimitMs = 10_000;

export interface EndOptions {
  graceMs: number;
  /** Called where the grace is over, when handlers are asked to end. */
  onGraceOver?: () => void;
  /** Called where handlers in this process do not heed their signals. */
  onUnstoppable: () => void;
}

export interface StopOptions extends EndOptions {
  /** How long what is still to be written may take, in milliseconds. Default 15,000. */
  drainLimitMs?: number | undefined;
}

/**
 * Ends a worker that may still act: claims nothing more, waits for its tasks, their ends and their releases, and
 * removes what names it. What cannot be written in time stays with its row, and is swept when that is reaped.
 */
export async function stopInOrder(
  parts: WorkerParts,
  heartbeat: Heartbeat,
  options: StopOptions,
): Promise<void> {
  await Promise.all([parts.claiming.stop(), parts.admission.stop(), parts.listening?.stop()]);
  await endAttempts(parts, options);
  const { drainLimitMs = defaultDrainLimitMs } = options;
  const drained = await drain(parts, drainLimitMs);
  if (drained) {
    // No claim comes any more, so what two comparisons find unknown now came from lost replies.
    await parts.comparing.compare();
    await parts.comparing.compare();
    await drain(parts, drainLimitMs);
  }
  await stopParts(parts);
  await parts.childrenIfAny()?.stop();
  await withdraw(parts, heartbeat);
}

/**
 * After the grace the attempts are asked to end. That of a child is bounded in time; a handler that runs inline and does
 * not heed its signal is waited for, because its task must not run elsewhere before it has returned.
 */
export async function endAttempts(
  { attempts, incarnation: { log } }: WorkerParts,
  { graceMs, onGraceOver, onUnstoppable }: EndOptions,
): Promise<void> {
  const ended = attempts.ended();
  if (await endsWithin(ended, graceMs)) return;
  log.warn({ handlers: attempts.running, graceMs }, 'the grace is over: tasks are asked to end');
  attempts.stop();
  onGraceOver?.();
  if (await endsWithin(ended, heedLimitMs)) return;
  log.error({ handlers: attempts.running }, 'handlers do not heed their signals, and are waited for');
  onUnstoppable();
  await ended;
}

async function endsWithin(ended: Promise<void>, limitMs: number): Promise<boolean> {
  const waiting = new AbortController();
  const late = delay(limitMs, false, { signal: waiting.signal }).catch(() => false);
  const inTime = await Promise.race([ended.then(() => true), late]);
  waiting.abort();
  return inTime;
}

/** Stops every loop; bounded in time. */
export async function stopParts(parts: WorkerParts): Promise<void> {
  const { claiming, admission, finishing, givingBack, discarding, releasing, progress } = parts;
  const loops = [claiming, admission, finishing, givingBack, discarding, releasing, progress];
  await Promise.all([...loops, parts.recovering, parts.auditing].map(async (one) => one?.stop()));
}

async function drain(parts: WorkerParts, limitMs: number): Promise<boolean> {
  const { finishing, givingBack, discarding, releasing, incarnation } = parts;
  const started = performance.now();
  for (;;) {
    const writes = [finishing, givingBack, discarding, releasing];
    const pending = writes.reduce((sum, one) => sum + (one?.pending ?? 0), 0);
    if (pending === 0) return true;
    if (!incarnation.mayAct()) return false;
    if (performance.now() - started >= limitMs) {
      incarnation.log.error({ pending }, 'stopped although not everything could be written');
      return false;
    }
    await delay(drainPollMs);
  }
}

/** What cannot be removed is left to be swept: then it is to be known that this worker has not crashed. */
async function withdraw({ incarnation }: WorkerParts, heartbeat: Heartbeat): Promise<void> {
  const { store, owner, log } = incarnation;
  if (!incarnation.mayAct()) return heartbeat.stop();
  try {
    if (await unregister(incarnation, heartbeat)) return;
  } catch (error) {
    log.error({ ...owner, err: error }, 'its registration could not be removed, and is left to be swept');
  } finally {
    await heartbeat.stop();
  }
  await store.sayStopped(owner.incarnation).catch(() => {});
}

/** The owner first, then the row: an owner without a row would be an orphan. Resolves with whether both are gone. */
async function unregister(incarnation: Incarnation, heartbeat: Heartbeat): Promise<boolean> {
  const { store, table, owner, log } = incarnation;
  const unlisted = await inCurrentOrNextEpoch(incarnation, (epoch) => table.unlistOwner(epoch, owner));
  faultPoint('unlisted');
  await heartbeat.stop();
  if (unlisted === 'still-holds') {
    log.error({ ...owner }, 'stopped although its registry still names holds');
    return false;
  }
  const removed = (await store.removeWorker(owner.incarnation)) === 'removed';
  if (!removed) log.error({ ...owner }, 'stopped although the store still has tasks that it runs');
  return removed;
}

/** It has claimed nothing: whatever of its registration can be removed goes, the rest is swept. */
export async function withdrawBeforeStart({ incarnation }: WorkerParts, heartbeat: Heartbeat): Promise<void> {
  const { store, table, owner, log } = incarnation;
  await heartbeat.stop();
  try {
    await inCurrentOrNextEpoch(incarnation, (epoch) => table.unlistOwner(epoch, owner));
    await store.removeWorker(owner.incarnation);
  } catch (error) {
    log.warn({ ...owner, err: error }, 'its registration could not be removed, and is left to be swept');
  }
}

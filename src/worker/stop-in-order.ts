import { faultPoint } from '../fault-points.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Heartbeat } from './heartbeat.js';
import type { Incarnation } from './incarnation.js';
import type { WorkerParts } from './worker-parts.js';
import { inCurrentOrNextEpoch } from '../recovery/in-current-epoch.js';
import { endsWithin } from './ends-within.js';
import { afterGraceMs, leastWritingMs } from './stop-limits.js';

const drainPollMs = 10;

export interface EndOptions {
  graceMs: number;
  /** Called where the grace is over, when handlers are asked to end. */
  onGraceOver?: () => void;
  /** Called where handlers in this process do not heed their signals. */
  onUnstoppable: () => void;
}

export interface StopOptions extends EndOptions {
  /** Until how long after the grace what is still to be written is tried, in milliseconds. Default: see afterGraceMs. */
  writtenMs?: number | undefined;
}

/**
 * Ends a worker that may still act: claims nothing more, waits for its tasks, their ends and their releases, and
 * removes what names it. Resolves with whether that is all done; what is not done in time is left to be swept, when its
 * row is reaped. Bounded in time whatever the stores do, but not where inline handlers do not end.
 */
export async function stopInOrder(
  parts: WorkerParts,
  heartbeat: Heartbeat,
  options: StopOptions,
): Promise<boolean> {
  const { graceMs, writtenMs = afterGraceMs.written } = options;
  const writtenBy = performance.now() + graceMs + writtenMs;
  const claimsEnded = Promise.all([parts.claiming.stop(), parts.admission.stop(), parts.listening?.stop()]);
  await endAttempts(parts, options);
  // None begins any more.
  const childrenGone = parts.childrenIfAny()?.stop();
  const withdrawn = claimsEnded.then(() => withdraw(parts, heartbeat));
  const inTime = await endsWithin(withdrawn, Math.max(writtenBy - performance.now(), leastWritingMs));
  const done = inTime && (await withdrawn);
  if (!done) await leaveToBeSwept(parts, heartbeat);
  await childrenGone;
  return done;
}

/**
 * After the grace the attempts are asked to end. That of a child is bounded in time; a handler that runs inline and does
 * not heed its signal is waited for, because its task must not run elsewhere before it has returned.
 */
export async function endAttempts(
  { attempts, incarnation: { log } }: WorkerParts,
  { graceMs, onGraceOver, onUnstoppable }: EndOptions,
): Promise<void> {
  if (await endsWithin(attempts.ended(), graceMs)) return;
  log.warn({ handlers: attempts.handlers, graceMs }, 'the grace is over: tasks are asked to end');
  attempts.stop();
  onGraceOver?.();
  // Where the store is out of reach an attempt has no end, but its handler has.
  const ended = attempts.handlersEnded();
  if (await endsWithin(ended, afterGraceMs.unstoppable)) return;
  log.error({ handlers: attempts.handlers }, 'handlers do not heed their signals, and are waited for');
  onUnstoppable();
  await ended;
}

/** Starts no further round of any loop, and waits for those under way, within their limits. */
export async function stopParts(parts: WorkerParts): Promise<void> {
  const { claiming, admission, finishing, givingBack, discarding, releasing, progress } = parts;
  const loops = [claiming, admission, finishing, givingBack, discarding, releasing, progress];
  await Promise.all([...loops, parts.recovering, parts.auditing].map(async (one) => one?.stop()));
}

/** Writes what is still to be written, then removes what names this worker. Resolves with whether that is done. */
async function withdraw(parts: WorkerParts, heartbeat: Heartbeat): Promise<boolean> {
  const { incarnation, comparing } = parts;
  try {
    if (!(await drained(parts))) return false;
    // No claim comes any more, so what two comparisons find unknown now came from lost replies.
    await comparing.compare();
    await comparing.compare();
    if (!(await drained(parts))) return false;
    await stopParts(parts);
    return await unregister(incarnation, heartbeat);
  } catch (error) {
    incarnation.log.error({ err: error }, 'its registration could not be removed');
    return false;
  }
}

/** False where it may not act any longer, which is so too once its heartbeat was stopped. */
async function drained(parts: WorkerParts): Promise<boolean> {
  while (unwritten(parts) > 0) {
    if (!parts.incarnation.mayAct()) return false;
    await delay(drainPollMs);
  }
  return true;
}

function unwritten({ attempts, finishing, givingBack, discarding, releasing }: WorkerParts): number {
  const writes = [finishing, givingBack, discarding, releasing];
  // An attempt whose handler has ended becomes one of these.
  return writes.reduce((sum, one) => sum + (one?.pending ?? 0), attempts.running);
}

/** Its tasks go on elsewhere once its TTL is over; then it is to be known that this worker has not crashed. */
async function leaveToBeSwept(parts: WorkerParts, heartbeat: Heartbeat): Promise<void> {
  const { finishing, givingBack, discarding, releasing, incarnation } = parts;
  const { store, owner, log } = incarnation;
  const left = {
    ...{ ends: finishing.pending, releases: releasing.pending, givingBack: givingBack.pending },
    ...(discarding !== null && { discarding: discarding.pending }),
  };
  log.error({ ...owner, left }, 'stopped although not everything could be written: it is left to be swept');
  // Rounds under way end at the limits of their calls; no other follows.
  void stopParts(parts);
  const said = heartbeat.stop().then(() => store.sayStopped(owner.incarnation));
  await endsWithin(said, afterGraceMs.ended - afterGraceMs.written).catch(() => {});
}

/** The owner first, then the row: an owner without a row would be an orphan. Resolves with whether both are gone. */
async function unregister(incarnation: Incarnation, heartbeat: Heartbeat): Promise<boolean> {
  const { store, table, owner, log } = incarnation;
  const unlisted = await inCurrentOrNextEpoch(incarnation, (epoch) => table.unlistOwner(epoch, owner));
  faultPoint('unlisted');
  await heartbeat.stop();
  if (unlisted === 'still-holds') {
    log.error({ ...owner }, 'its registry still names holds');
    return false;
  }
  const removed = (await store.removeWorker(owner.incarnation)) === 'removed';
  if (!removed) log.error({ ...owner }, 'the store still has tasks that it runs');
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

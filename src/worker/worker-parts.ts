import type { TaskRow } from '../store/store.js';
import type { ChildPool } from './child-pool.js';
import type { Heartbeat } from './heartbeat.js';
import type { Incarnation } from './incarnation.js';
import type { CheckedWorkerOptions, WorkerOptions } from './worker-options.js';
import { AdmissionLoop } from './admission.js';
import { Attempts } from './attempts.js';
import { createChildPool } from './child-pool.js';
import { Claiming } from './claiming.js';
import { ComparingWithMemory } from './comparing-with-memory.js';
import { Finishing } from './finishing.js';
import { GivingBack } from './giving-back.js';
import { HandlerDispatching } from './handler-dispatch.js';
import { KnownHolds } from './known-holds.js';
import { LanesToClaim } from './lanes-to-claim.js';
import { PoliciesWriting } from './policies-writing.js';
import { ProgressWriting } from './progress-writing.js';
import { Releasing } from './releasing.js';

/** Everything that works for one incarnation. */
export interface WorkerParts {
  incarnation: Incarnation;
  admission: AdmissionLoop;
  claiming: Claiming;
  attempts: Attempts;
  finishing: Finishing;
  releasing: Releasing;
  givingBack: GivingBack;
  comparing: ComparingWithMemory;
  progress: ProgressWriting;
  policies: PoliciesWriting;
  /** null until the first attempt that runs in a child. */
  childrenIfAny(): ChildPool | null;
}

export function workerParts(
  incarnation: Incarnation,
  heartbeat: Heartbeat,
  options: WorkerOptions,
  checked: CheckedWorkerOptions,
): WorkerParts {
  const { definitions } = options;
  const { concurrency, isolation, offer, taskFiles } = checked;
  const known = new KnownHolds();
  const admission = new AdmissionLoop(incarnation, offer);
  const releasing = new Releasing(incarnation, known);
  const givingBack = new GivingBack(incarnation, known, releasing);
  const finishing = new Finishing(incarnation, releasing);
  const progress = new ProgressWriting(incarnation);
  const policies = new PoliciesWriting(incarnation);
  let pool: ChildPool | null = null;
  const attempts: Attempts = new Attempts({
    ports: {
      incarnation,
      definitions,
      isolation,
      children: () => (pool ??= createChildPool({ taskFiles, watchdogAddress: heartbeat.watchdogAddress })),
      dispatching: new HandlerDispatching({ ...incarnation, loaded: definitions }),
      progress,
      writePolicies: (one) => policies.write(one),
    },
    known,
    finishing,
    givingBack,
    releasing,
    onFree: () => claiming.wake(),
    onRetry: (delayMs) => admission.wakeIn(delayMs),
  });
  const claiming: Claiming = new Claiming({
    incarnation,
    known,
    givingBack,
    lanes: new LanesToClaim(offer, [...definitions.values()]),
    freeSlots: () => concurrency - attempts.running,
    begin: (rows: TaskRow[]) => attempts.begin(rows),
    wakeAdmission: () => admission.wake(),
    onFirstAnswer: () => options.onReady?.(incarnation.owner),
  });
  const comparing = new ComparingWithMemory({ incarnation, known, claiming, givingBack });
  return {
    ...{ incarnation, admission, claiming, attempts, finishing, releasing, givingBack, comparing },
    ...{ progress, policies, childrenIfAny: () => pool },
  };
}

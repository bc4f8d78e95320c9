import type { NamedWorker } from '../store/lost-workers.js';
import type { TaskRow } from '../store/store.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import type { AttemptPorts } from './attempt-ports.js';
import type { ChildPool } from './child-pool.js';
import type { Heartbeat } from './heartbeat.js';
import type { Incarnation } from './incarnation.js';
import type { CheckedWorkerOptions, WorkerOptions } from './worker-options.js';
import { AdmissionLoop } from './admission.js';
import { Attempts } from './attempts.js';
import { Auditing } from './auditing.js';
import { createChildPool } from './child-pool.js';
import { Claiming } from './claiming.js';
import { ComparingWithMemory } from './comparing-with-memory.js';
import type { Discarding } from './discarding.js';
import { DispatchListening } from './dispatch-listening.js';
import { Finishing } from './finishing.js';
import { GivingBack } from './giving-back.js';
import { HandlerDispatching } from './handler-dispatch.js';
import { KnownHolds } from './known-holds.js';
import { LanesToClaim } from './lanes-to-claim.js';
import { LentSlots } from './lent-slots.js';
import { PoliciesWriting } from './policies-writing.js';
import { ProgressWriting } from './progress-writing.js';
import { processIdentity } from './process-identity.js';
import { provablyDead } from './provably-dead.js';
import { Recovering } from './recovering.js';
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
  /** null where nothing is inserted as running. */
  discarding: Discarding | null;
  comparing: ComparingWithMemory;
  recovering: Recovering;
  /** null where nobody audits by itself. */
  auditing: Auditing | null;
  progress: ProgressWriting;
  /** null where nothing was given to listen with. */
  listening: DispatchListening | null;
  /** null until the first attempt that runs in a child. */
  childrenIfAny(): ChildPool | null;
}

export function workerParts(
  incarnation: Incarnation,
  heartbeat: Heartbeat,
  options: WorkerOptions,
  checked: CheckedWorkerOptions,
): WorkerParts {
  const { concurrency, offer, ttlMs } = checked;
  const writing = writingParts(incarnation);
  const { known, givingBack } = writing;
  const children = lazyChildren(heartbeat, checked);
  const admission = new AdmissionLoop(incarnation, offer, ttlMs);
  const slots = new LentSlots(() => claiming.wake());
  const attempts: Attempts = new Attempts({
    ...writing,
    ports: {
      ...attemptPorts(incarnation, writing, options.definitions),
      ...{ isolation: checked.isolation, children: children.get, slots },
    },
    onFree: () => claiming.wake(),
    onRetry: (delayMs) => admission.wakeIn(delayMs),
  });
  const claiming: Claiming = new Claiming({
    ...{ incarnation, known, givingBack },
    lanes: new LanesToClaim(offer, [...options.definitions.values()]),
    freeSlots: () => concurrency - attempts.running + slots.lent,
    begin: (rows: TaskRow[]) => attempts.begin(rows),
    wakeAdmission: () => admission.wake(),
    onFirstAnswer: () => options.onReady?.(incarnation.owner),
  });
  const listen = options.listenForDispatches;
  const listening =
    listen === undefined ? null : new DispatchListening(incarnation, listen, () => admission.wake());
  const comparing = new ComparingWithMemory({
    ...{ incarnation, known, claiming, givingBack },
    cancel: (holds) => attempts.cancel(holds),
  });
  const { soleName } = checked;
  const recovering = recoveringFor(incarnation, { soleName, predecessors: options.predecessors ?? [] });
  return {
    ...{ ...writing, incarnation, admission, claiming, attempts, listening, comparing, recovering },
    discarding: null,
    auditing: new Auditing({ incarnation }),
    childrenIfAny: children.ifAny,
  };
}

interface KnownDead {
  /** Whoever had the name before is dead, as the operator says. */
  soleName: boolean;
  predecessors: readonly string[];
}

export function recoveringFor(incarnation: Incarnation, { soleName, predecessors }: KnownDead): Recovering {
  const isDead = async (worker: NamedWorker): Promise<boolean> =>
    soleName || predecessors.includes(worker.incarnation) || provablyDead(worker, processIdentity());
  return new Recovering({ incarnation, isDead });
}

export interface WritingParts extends Pick<
  WorkerParts,
  'finishing' | 'releasing' | 'givingBack' | 'progress'
> {
  known: KnownHolds;
}

export function writingParts(incarnation: Incarnation): WritingParts {
  const known = new KnownHolds();
  const releasing = new Releasing(incarnation, known);
  const givingBack = new GivingBack(incarnation, known, releasing);
  const finishing = new Finishing(incarnation, releasing, givingBack);
  return { known, releasing, givingBack, finishing, progress: new ProgressWriting(incarnation) };
}

export function attemptPorts(
  incarnation: Incarnation,
  { progress }: WritingParts,
  definitions: LoadedDefinitions,
): Omit<AttemptPorts, 'isolation' | 'children' | 'slots'> {
  const policies = new PoliciesWriting(incarnation);
  const dispatching = new HandlerDispatching({ ...incarnation, loaded: definitions });
  const writePolicies: AttemptPorts['writePolicies'] = (one) => policies.write(one);
  return { incarnation, definitions, dispatching, progress, writePolicies };
}

function lazyChildren(
  heartbeat: Heartbeat,
  { taskFiles }: CheckedWorkerOptions,
): { get: () => ChildPool; ifAny: () => ChildPool | null } {
  let pool: ChildPool | null = null;
  return {
    get: () =>
      (pool ??= createChildPool({ taskFiles, watchdogAddress: heartbeat.watchdogAddress, stopGraceMs: 500 })),
    ifAny: () => pool,
  };
}

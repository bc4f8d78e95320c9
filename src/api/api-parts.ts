import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import type { ChildPool } from '../worker/child-pool.js';
import type { Incarnation } from '../worker/incarnation.js';
import type { WorkerParts, WritingParts } from '../worker/worker-parts.js';
import { refuseDeadlock } from '../tasks/wait/deadlock-watch.js';
import { AdmissionLoop } from '../worker/admission.js';
import { Attempts } from '../worker/attempts.js';
import { Claiming } from '../worker/claiming.js';
import { ComparingWithMemory } from '../worker/comparing-with-memory.js';
import { Discarding } from '../worker/discarding.js';
import { LentSlots } from '../worker/lent-slots.js';
import { attemptPorts, recoveringFor, writingParts } from '../worker/worker-parts.js';
import { AdHocLocks } from './ad-hoc-locks.js';
import { OwnInserts } from './own-inserts.js';
import { RequesterLane } from './requester-lane.js';

/** Everything that works for one incarnation of kind `api`: a worker that claims for itself alone. */
export interface ApiParts extends WorkerParts {
  discarding: Discarding;
  inserts: OwnInserts;
  locks: AdHocLocks;
}

export function apiParts(incarnation: Incarnation, definitions: LoadedDefinitions, ttlMs: number): ApiParts {
  const writing = writingParts(incarnation);
  const { known, releasing } = writing;
  const discarding = new Discarding(incarnation, known, releasing);
  const inserts = new OwnInserts({ incarnation, known, discarding, releasing });
  const requester = incarnation.owner.incarnation;
  const offer = { queues: [], names: [], versions: {}, requester };
  const admission = new AdmissionLoop(incarnation, offer, ttlMs);
  const locks: AdHocLocks = new AdHocLocks({
    ...{ inserts, discarding, known },
    refuseDeadlock: (wait, signal) => refuseDeadlock(incarnation, wait, signal),
    mayAct: () => incarnation.mayAct(),
    wakeAdmission: () => {
      // Where nobody ever waits here, there is nothing to admit either.
      admission.start();
      admission.wake();
    },
    wakeClaiming: () => claiming.wake(),
  });
  const inDoubt = { add: locks.doubt.bind(locks) };
  const attempts = inlineAttempts(incarnation, writing, definitions);
  const claiming: Claiming = new Claiming({
    ...{ incarnation, known, givingBack: inDoubt },
    lanes: new RequesterLane(requester),
    freeSlots: () => locks.waiting,
    begin: (rows) => locks.granted(rows),
    wakeAdmission: () => admission.wake(),
  });
  const comparing = new ComparingWithMemory({
    ...{ incarnation, known, givingBack: inDoubt },
    claiming: {
      quietly: (work) => claiming.quietly(work),
      get storeClaims() {
        return claiming.storeClaims + inserts.sent;
      },
    },
    cancel: (holds) => attempts.cancel(holds),
  });
  return {
    ...{ ...writing, incarnation, admission, attempts, claiming, comparing, discarding, inserts, locks },
    recovering: recoveringFor(incarnation, { soleName: false, predecessors: [] }),
    ...{ listening: null, auditing: null, childrenIfAny: () => null },
  };
}

function inlineAttempts(
  incarnation: Incarnation,
  writing: WritingParts,
  definitions: LoadedDefinitions,
): Attempts {
  return new Attempts({
    ...writing,
    ports: {
      ...attemptPorts(incarnation, writing, definitions),
      ...{ isolation: 'inline', children: noChildren, slots: new LentSlots(() => {}) },
    },
    onFree: () => {},
    onRetry: () => {},
  });
}

function noChildren(): ChildPool {
  throw new Error('What runs at once runs inline.');
}

import type { Database } from './database.js';
import type { Run } from './run.js';
import type { Admission } from './store.js';
import { clearTakeOuts } from './queries/clear-take-outs.js';
import { endUnclaimedRollbacks } from './queries/end-unclaimed-rollbacks.js';
import { continuePause } from './queries/pause-queue.js';
import { lanesToAdmit } from './queries/lanes-to-admit.js';
import { makeDue } from './queries/make-due.js';
import { markAdmitted } from './queries/mark-admitted.js';
import { markedTakeOuts } from './queries/marked-take-outs.js';
import { openPass } from './queries/open-pass.js';
import { takeOutUnserved } from './queries/take-out-unserved.js';
import { tasksToAdmit } from './queries/tasks-to-admit.js';
import { runOn } from './run.js';

const limits = { statementLimitMs: 5_000, lockLimitMs: 1_000, idleLimitMs: 30_000 };

/** With the lock. A process frozen in a pass delays the others by this. */
const idleLimitMs = 1_000;

/** One transaction under the admission lock. */
export async function admissionPass<T>(
  database: Database,
  namespace: string,
  pass: (admission: Admission) => Promise<T>,
): Promise<T | 'busy-elsewhere'> {
  return database.transaction(async (queryable) => {
    const run = runOn(queryable, namespace);
    const opened = await openPass(run, idleLimitMs);
    return opened === null ? 'busy-elsewhere' : pass(admissionOn(run, opened));
  }, limits);
}

function admissionOn(run: Run, { pass, epoch }: { pass: string; epoch: string | null }): Admission {
  // G3: what came since the lanes were looked for waits for the next pass. Before it may be one of a lane that had nothing then.
  let lastPlace: string | null = null;
  return {
    pass,
    epoch,
    makeDue: (limit) => makeDue(run, limit),
    lanesToAdmit: async (inEpoch) => {
      const found = await lanesToAdmit(run, inEpoch);
      lastPlace = found.lastPlace;
      return found.lanes;
    },
    tasksToAdmit: (request) => tasksToAdmit(run, request, lastPlace),
    continuePauses: async (limit) => {
      const phase = await continuePause(run, null, limit);
      return phase === 'taking-out' || phase === 'resuming';
    },
    takeOutUnserved: (request) => takeOutUnserved(run, request),
    markedTakeOuts: (limit) => markedTakeOuts(run, limit),
    endUnclaimedRollbacks: (limit) => endUnclaimedRollbacks(run, limit),
    clearTakeOuts: (gone, stale = []) => clearTakeOuts(run, gone, stale),
    markAdmitted: (inEpoch, tasks) => markAdmitted(run, inEpoch, tasks),
  };
}

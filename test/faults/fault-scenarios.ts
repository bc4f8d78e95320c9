import type { FaultPoint } from '../../src/fault-points.js';
import type { TaskState } from '../../src/store/task-state.js';
import type { Victim } from './victim.js';
import { admissionPass, firstPlace } from '../../src/worker/admission-pass.js';
import { waitUntil } from '../helpers/wait-until.js';
import { insertOf, newTask, somePolicies } from '../store/rows.js';
import { admit, claimHolds, dispatchJobs, registerOwner, runningJobs } from '../worker/dead-worker.js';

/** How a process comes to a fault point, and who goes on after it. */
export interface Scenario {
  /** What the process does. Default: it works. */
  does?: 'work' | 'lock now' | 'lock later' | 'run at once';
  /** Before it starts. */
  before(victim: Victim): Promise<void>;
  /** While it works. */
  meanwhile?(victim: Victim): Promise<void>;
  /** The successor has the same name, and knows it dead by that; or another one, and observes it. Default: successor. */
  recoveredBy?: 'observer';
}

/** A process takes a while to start on a busy machine, in milliseconds. */
const startLimitMs = 50_000;

/** It comes by when it runs one task of that name. */
function running(name: string, becomes: TaskState = 'completed'): Scenario {
  return { before: (victim) => victim.dispatch(name, becomes) };
}

const nothingBefore = { before: async (): Promise<void> => {} };

const stopping: Scenario = {
  before: (victim) => victim.dispatch('stopped'),
  meanwhile: async (victim) => {
    await waitUntil(
      () => victim.journal().some(({ kind }) => kind === 'start'),
      'the handler runs',
      startLimitMs,
    );
    victim.process.kill('SIGTERM');
  },
};

const idleStop: Scenario = {
  before: (victim) => victim.dispatch('job'),
  meanwhile: async (victim) => {
    const done = async (): Promise<boolean> =>
      (await victim.states()).every((state) => state === 'completed');
    await waitUntil(done, 'its task is completed', startLimitMs);
    victim.process.kill('SIGTERM');
  },
};

/** A task whose hold waits in the table when it is canceled. */
const canceled: Scenario = {
  before: async (victim) => {
    await victim.dispatch('job', 'canceled');
    const epoch = await victim.place.epoch.get();
    const offers = [{ queues: ['default'], names: ['job'], versions: {} }];
    await admissionPass(victim.place, { epoch, offers, afterPlace: firstPlace, limit: 10 });
    await victim.place.store.cancelTask([...victim.expected.keys()][0] ?? '');
  },
};

/** Dispatched without the resource that its definition names, as from SQL. */
const lacking: Scenario = {
  before: async (victim) => {
    const task = newTask({ name: 'job', payload: victim.payload(), exclusive: [], shared: [] });
    await victim.place.store.insertTasks([task]);
    victim.expected.set(task.id, 'completed');
  },
};

/** A dead worker, which nobody has noticed: a task that it ran, one that it had taken in the table only, and a lock. */
async function dead(victim: Victim, name: string): Promise<void> {
  const { place, expected } = victim;
  const owner = await registerOwner(place, { name, ttlMs: 1_000 });
  const policies = { ...somePolicies, onWorkerLost: 'retry' as const };
  const job = (holds: string): Parameters<typeof dispatchJobs>[1] => {
    return { exclusive: [holds], payload: victim.payload(holds), policies };
  };
  const ran = await runningJobs(place, owner, job('r'), job('q'));
  const taken = await dispatchJobs(place, job('s'));
  await admit(place);
  await claimHolds(place, owner);
  for (const { id } of [...ran, ...taken]) expected.set(id, 'completed');
  const epoch = await place.epoch.get();
  const lock = insertOf(owner.incarnation, epoch, { lock: true, exclusive: ['l'], shared: [] });
  const { id: task, exclusive, shared } = lock.task;
  const hold = { task, entry: 1, lane: '["default","job",{}]', priority: 0, place: '1', exclusive, shared };
  await place.table.enterNow(epoch, owner, [hold]);
  await place.store.insertRunning(lock);
}

const sweeping: Scenario = { before: (victim) => dead(victim, 'dead'), recoveredBy: 'observer' };

/** One for each point: a point without a scenario does not compile. */
export const scenarios: Record<FaultPoint, Scenario> = {
  'epoch-drawn': running('job'),
  'epoch-begun': running('job'),
  'epoch-entered': running('job'),
  'epoch-opened': running('job'),
  'epoch-built': running('job'),
  registered: running('job'),
  listed: running('job'),
  unlisted: idleStop,
  'admission-entered': running('job'),
  'admission-marked': running('job'),
  'taken-out': canceled,
  'claimed-in-table': running('job'),
  claimed: running('job'),
  readmitted: lacking,
  'attempt-ended': running('job'),
  'end-stored': running('job'),
  released: running('job'),
  'retry-stored': running('retried'),
  'retry-released': running('retried'),
  'given-back': stopping,
  'given-back-and-moved': stopping,
  'roll-back-due': running('rolled-back', 'failed'),
  'roll-back-stored': running('rolled-back', 'failed'),
  'roll-back-claimed': running('rolled-back', 'failed'),
  'roll-back-ended': running('rolled-back', 'failed'),
  'roll-back-end-stored': running('rolled-back', 'failed'),
  'own-hold-entered': { ...nothingBefore, does: 'lock now' },
  'own-row-inserted': { ...nothingBefore, does: 'run at once' },
  'lock-requested': { ...nothingBefore, does: 'lock later' },
  'lock-row-deleted': { ...nothingBefore, does: 'lock now' },
  'predecessor-reaped': { before: (victim) => dead(victim, victim.name) },
  'dead-reaped': sweeping,
  'dead-tasks-settled': sweeping,
  'dead-locks-deleted': sweeping,
  'dead-hold-given-back': sweeping,
  'dead-holds-settled': sweeping,
  'dead-owner-clean': sweeping,
  'dead-owner-unlisted': sweeping,
};

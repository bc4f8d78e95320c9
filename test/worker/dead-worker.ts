import { expect } from 'vitest';
import type { ClaimedHold, HoldView } from '../../src/locks/lock-table.js';
import type { Owner } from '../../src/owner.js';
import type { NewTask, TaskEntry, TaskRow } from '../../src/store/store.js';
import type { NewWorker } from '../../src/store/worker-row.js';
import type { Recovery } from '../../src/recovery/recovery.js';
import { serverPlace, type Place } from './place.js';
import { fenceText } from '../../src/fence.js';
import { laneText } from '../../src/lane.js';
import { admissionPass, firstPlace } from '../../src/worker/admission-pass.js';
import { cleanupLocksForWorker } from '../../src/recovery/cleanup-locks-for-worker.js';
import { assertNothingLeft } from '../helpers/assert-nothing-left.js';
import { sharedPostgresUrl, sharedRedisUrl } from '../helpers/servers.js';
import { mustGet, newTask, newWorker, somePolicies } from '../store/rows.js';

/** The queue that only workers of these helpers serve. */
const queue = 'default';

/** A worker that is registered and listed, and that nobody runs. */
export async function registerOwner(place: Place, worker: Partial<NewWorker> = {}): Promise<Owner> {
  const row = newWorker({ name: 'dead', names: ['job'], ...worker });
  const { incarnation } = await place.store.registerWorker(row);
  const owner = { name: row.name, incarnation };
  await place.table.listOwner(await place.epoch.get(), owner);
  return owner;
}

/** Dispatches a task of the name `job` for each of these, each with a resource of its own. */
export async function dispatchJobs(place: Place, ...jobs: Partial<NewTask>[]): Promise<TaskRow[]> {
  const tasks = jobs.map((job) => {
    const policies = { ...somePolicies, maxAttempts: 1 };
    const task = newTask({ name: 'job', queue, shared: [], policies, ...job });
    return { ...task, exclusive: job.exclusive ?? [task.id] };
  });
  await place.store.insertTasks(tasks);
  return Promise.all(tasks.map(async ({ id }) => mustGet(place.store, id)));
}

/** Admits whatever waits, as often as it takes. */
export async function admit(place: Place): Promise<void> {
  const epoch = await place.epoch.get();
  const offers = [{ queues: [queue, 'other'], names: ['job'], versions: {} }];
  for (let round = 0; round < 3; round += 1) {
    await admissionPass(place, { epoch, offers, afterPlace: firstPlace, limit: 500 });
  }
}

/** Claims what is granted in the lane, in the table only. */
export async function claimHolds(
  place: Place,
  owner: Owner,
  limit: number = 100,
  of: string = queue,
): Promise<ClaimedHold[]> {
  const epoch = await place.epoch.get();
  const lanes = [laneText({ queue: of, name: 'job', needs: {} })];
  const answer = await place.table.claim(epoch, { owner, lanes, limit, lanesVersion: null });
  if (answer === 'unlisted') throw new Error('The owner is not listed.');
  return answer.holds;
}

/** Claims it in the store too, as the owner. */
export async function beginTasks(place: Place, owner: Owner, holds: readonly ClaimedHold[]): Promise<void> {
  const epoch = await place.epoch.get();
  const claims = holds.map(({ task, entry, fence }) => ({ task, entry, fence: fenceText(epoch, fence) }));
  const outcome = await place.store.claimTasks({ worker: owner.incarnation, epoch, claims });
  if (outcome.status !== 'claimed' || outcome.claimed.length !== holds.length) {
    throw new Error(`The claim was answered ${JSON.stringify(outcome)}.`);
  }
}

/** Tasks that the owner runs, in the order given. */
export async function runningJobs(
  place: Place,
  owner: Owner,
  ...jobs: Partial<NewTask>[]
): Promise<TaskRow[]> {
  const tasks = await dispatchJobs(place, ...jobs);
  await admit(place);
  await beginTasks(place, owner, await claimHolds(place, owner));
  return Promise.all(tasks.map(async ({ id }) => mustGet(place.store, id)));
}

/** Takes what is granted, runs it and completes it, until nothing is left to take. Returns the tasks in order. */
export async function workOff(place: Place, owner: Owner, of: string = queue): Promise<string[]> {
  const epoch = await place.epoch.get();
  const done: string[] = [];
  for (;;) {
    let [hold] = await claimHolds(place, owner, 1, of);
    if (hold === undefined) {
      await admit(place);
      [hold] = await claimHolds(place, owner, 1, of);
    }
    if (hold === undefined) return done;
    await beginTasks(place, owner, [hold]);
    await complete(place, owner, hold);
    await place.table.release(epoch, [{ task: hold.task, entry: hold.entry, owner }]);
    done.push(hold.task);
  }
}

async function complete(place: Place, owner: Owner, { task, entry }: TaskEntry): Promise<void> {
  const row = await mustGet(place.store, task);
  const end =
    row.state === 'rolling_back'
      ? { state: 'rolled-back' as const }
      : { state: 'completed' as const, result: null };
  await place.store.finishTasks(owner.incarnation, [{ task, entry, ...end }]);
}

export async function listedOwners(place: Place): Promise<Owner[]> {
  return place.table.findOwners(await place.epoch.get(), { after: null, limit: 100 });
}

/** The incarnations that have a row. */
export async function rowsLeft(place: Place): Promise<string[]> {
  return (await place.store.observeWorkers()).map(({ incarnation }) => incarnation);
}

/** Both stores, with a worker that is to die and one that lives on. */
export class DeathScene {
  readonly place: Place;
  readonly live: Owner;
  dead: Owner;

  private constructor(place: Place, dead: Owner, live: Owner) {
    this.place = place;
    this.dead = dead;
    this.live = live;
  }

  static async open(): Promise<DeathScene> {
    const place = await serverPlace();
    const dead = await registerOwner(place);
    return new DeathScene(place, dead, await registerOwner(place, { name: 'live' }));
  }

  /** Declares it dead and cleans up after it once; whether all is done. */
  async lose(recovery: Recovery = this.place): Promise<boolean> {
    await this.place.store.reapWorker(this.dead.incarnation);
    return cleanupLocksForWorker(recovery, this.dead);
  }

  async hold(task: string | undefined): Promise<HoldView | null> {
    return this.place.table.inspectHold(await this.place.epoch.get(), task ?? '');
  }

  async row(task: string | undefined): Promise<TaskRow> {
    return mustGet(this.place.store, task ?? '');
  }

  /** What the registry of the dead one lists. */
  async registry(): Promise<string[]> {
    const page = { after: null, limit: 100 };
    const listed = await this.place.table.readRegistry(await this.place.epoch.get(), this.dead, page);
    return listed.map(({ task }) => task);
  }

  /** Nothing names the dead one any more, in either store. */
  async expectClean(): Promise<void> {
    expect(await listedOwners(this.place)).toEqual([this.live]);
    expect(await rowsLeft(this.place)).toEqual([this.live.incarnation]);
  }

  /** Every task can be brought to its end, and then the table is empty. */
  async expectNothingLeft(): Promise<void> {
    await workOff(this.place, this.live);
    const { namespace } = this.place;
    await assertNothingLeft({ namespace, databaseUrl: sharedPostgresUrl(), redisUrl: sharedRedisUrl() });
  }
}

import type { DispatchRequest, Holdfast } from 'holdfast';
import type { FollowedTasks } from './followed-tasks.js';
import { changeSource } from './change-source.js';
import { layoutOf } from './layout.js';
import { gc, publish, sync } from './tasks.js';

/** How the demo goes on: some dozens of tasks wait at any time. */
const workload = { changesAtOnce: 8, backlog: 64 } as const;

export interface WorkloadRun {
  hf: Holdfast;
  /** The mirror's folder. */
  mirror: string;
  packages: string[];
  followed: FollowedTasks;
  /** At least so many are to be followed in the end. */
  tasks: number;
  signal: AbortSignal;
}

/**
 * Syncs every package; then, while syncs run, changes source copies and asks for another sync of each, with
 * collections of garbage and publications of the index in between. Each change is followed by a sync, and the
 * last collection and index come after all of them: so at the end everything must fit. An abort ends it early.
 */
export async function dispatchWorkload(run: WorkloadRun): Promise<void> {
  const { packages, followed, tasks, signal } = run;
  await dispatch(run, [...packages.map((name) => syncOf(run, name)), publishOf(run), gcOf(run)]);
  let change = 0;
  for (let round = 0; followed.followed < tasks; round += 1) {
    await followed.fewerThan(workload.backlog);
    if (signal.aborted) return;
    const requests: DispatchRequest[] = [];
    for (let at = 0; at < workload.changesAtOnce; at += 1, change += 1) {
      const name = packages[change % packages.length] ?? '';
      await changeSource(layoutOf(run.mirror), name, change);
      requests.push(syncOf(run, name));
      if (at === workload.changesAtOnce / 2 && round % 2 === 0) requests.push(gcOf(run));
    }
    if (round % 3 === 0) requests.push(publishOf(run));
    await dispatch(run, requests);
  }
  await dispatch(run, [gcOf(run), publishOf(run)]);
}

async function dispatch({ hf, followed }: WorkloadRun, requests: DispatchRequest[]): Promise<void> {
  followed.follow(await hf.dispatchMany(requests));
}

function syncOf({ mirror }: WorkloadRun, packageName: string): DispatchRequest {
  return { task: sync.name, payload: { mirror, package: packageName } };
}

function gcOf({ mirror }: WorkloadRun): DispatchRequest {
  return { task: gc.name, payload: { mirror } };
}

function publishOf({ mirror, packages }: WorkloadRun): DispatchRequest {
  return { task: publish.name, payload: { mirror, packages } };
}

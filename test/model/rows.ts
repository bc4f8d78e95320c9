import type { HoldSource, Policies, TaskRow } from '../../src/store/store.js';
import type { Model, ModelTask } from '../store/task-model.js';
import { lockName } from '../../src/api/ad-hoc-locks.js';
import { laneText, lockQueue } from '../../src/lane.js';
import { modelTask } from '../store/task-model.js';

export const queue = 'default';
export const jobName = 'job';

export const defaultPolicies: Policies = {
  maxAttempts: 3,
  maxCrashes: 3,
  backoff: { initialMs: 0, maxMs: 0 },
  onWorkerLost: null,
  timeoutMs: null,
  rollbackTimeoutMs: null,
};

/** A row of the table of tasks: the state machine of the model, and what admission and holds need. */
export interface StoredTask extends ModelTask {
  id: string;
  lane: string;
  place: number;
  priority: number;
  exclusive: string[];
  shared: string[];
  fence: string | null;
  /** Of an ad-hoc lock. */
  requester: string | null;
}

export interface StoredWorker {
  incarnation: string;
  name: string;
  counter: number;
  insertsFrom: number;
  /** The name of the definition that it has. null: it serves its own lane only. */
  serves: string | null;
}

/** One transaction that takes several calls: what it changed is nobody else's before it commits. */
export interface Transaction {
  id: number;
  kind: 'admission' | 'rebuild';
  rows: Map<string, StoredTask>;
  deleted: Set<string>;
  /** The epoch that is the fleet's once it commits. */
  opens: { epoch: string; identity: string } | null;
  /** Nobody goes on with it: the server ends it. */
  abandoned: boolean;
}

/** All that the database has: plain data. */
export interface Rows extends Model {
  tasks: StoredTask[];
  workers: Map<string, StoredWorker>;
  names: Map<string, string>;
  epoch: string | null;
  identity: string | null;
  lastEpoch: number;
  lastPlace: number;
  lastPass: number;
  lastIncarnation: number;
  lastTransaction: number;
  phase: 'taking-out' | 'paused' | 'resuming' | null;
  admission: Transaction | null;
  rebuild: Transaction | null;
}

export function emptyRows(): Rows {
  return {
    ...{ tasks: [], reaped: new Set(), stopped: new Set(), paused: false, phase: null },
    ...{ workers: new Map(), names: new Map(), epoch: null, identity: null },
    ...{ lastEpoch: 0, lastPlace: 0, lastPass: 0, lastIncarnation: 0, lastTransaction: 0 },
    ...{ admission: null, rebuild: null },
  };
}

export function addTask(
  rows: Rows,
  task: { id: string; exclusive: string[]; shared: string[]; policies: Policies | null; name?: string },
): void {
  const { id, exclusive, shared, policies, name = jobName } = task;
  rows.tasks.push({
    ...modelTask(policies),
    ...{ id, exclusive, shared, priority: 0, fence: null, requester: null },
    lane: laneText({ queue, name, needs: {} }),
    place: ++rows.lastPlace,
  });
}

export function addWorker(rows: Rows, name: string, serves: string | null = jobName): string {
  const incarnation = String(++rows.lastIncarnation);
  rows.workers.set(incarnation, { incarnation, name, counter: 1, insertsFrom: 0, serves });
  rows.names.set(incarnation, name);
  return incarnation;
}

/** The lane of the ad-hoc locks of one incarnation. */
export function lockLane(requester: string): string {
  return laneText({ queue: lockQueue, name: lockName, needs: {}, requester });
}

export const jobLane: string = laneText({ queue, name: jobName, needs: {} });

/** Whether anybody who is not reaped has its definition. */
export function isServed(rows: Rows, { lane }: StoredTask): boolean {
  return [...rows.workers.values()].some(
    ({ incarnation, serves }) => !rows.reaped.has(incarnation) && lane === laneOf(incarnation, serves),
  );
}

function laneOf(incarnation: string, serves: string | null): string {
  return serves === null ? lockLane(incarnation) : laneText({ queue, name: serves, needs: {} });
}

export function taskOf(rows: Rows, id: string): StoredTask | undefined {
  return rows.tasks.find((task) => task.id === id);
}

export function isUnsettled({ state }: ModelTask): boolean {
  return state !== 'completed' && state !== 'failed' && state !== 'canceled';
}

export function holdSource({ id, entry, lane, priority, place, exclusive, shared }: StoredTask): HoldSource {
  return { id, entry, lane, priority, place: String(place), exclusive, shared };
}

const moment = '2026-01-01T00:00:00.000Z';
const farAway = '2026-01-02T00:00:00.000Z';

export function rowOf(rows: Rows, task: StoredTask): TaskRow {
  const { id, state, lane, exclusive, shared, priority, entry, attempt, crashes, policies, fence } = task;
  const name = task.worker === null ? undefined : rows.names.get(task.worker);
  return {
    ...{ id, name: (JSON.parse(lane) as string[])[1] ?? jobName, state, queue, lane, payload: null },
    ...{ exclusive, shared, priority, place: String(task.place), entry, attempt, crashes, policies, fence },
    worker: task.worker === null ? null : { name: name ?? '', incarnation: task.worker },
    ...{ parent: null, uniqueKey: null, readmitted: task.readmitted, runAt: null, createdAt: moment },
    ...{ startedAt: null, finishedAt: null, progress: [], result: null, error: null, attempts: [] },
    rollback:
      task.outcome === null
        ? null
        : { outcome: task.outcome, delayMs: null, until: farAway, startedAt: moment },
  };
}

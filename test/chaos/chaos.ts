import type { History, Violation } from './history.js';
import type { PlannedFault, Stores } from './faults/fault-kind.js';
import type { Workload } from './workload.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from './checker.js';
import { Dispatching } from './dispatching.js';
import { findIdle } from './each-works.js';
import { findLeftovers } from './leftovers.js';
import { Nemesis, planFaults } from './nemesis.js';
import { Operating } from './operating.js';
import { findComplaints } from './read-logs.js';
import { readRows } from './read-rows.js';
import { readRuns } from './read-runs.js';
import { seeded } from './seeded.js';
import { settled } from './settling.js';
import { startSystem, type RunningSystem } from './system.js';
import { versionsOf, type Versions } from './versions.js';
import { Watching } from './watching.js';

export interface ChaosOptions {
  seed: number;
  minutes: number;
  stores: Stores;
  workers: number;
  workload: Workload;
  /** The folder of the build under test. */
  build: string;
  only: string[] | null;
  /** Whether logs, journal and history are kept. */
  keep: 'always' | 'violation' | 'never';
  signal: AbortSignal;
  progress: (line: string) => void;
}

export interface ChaosResult {
  options: ChaosOptions;
  history: History;
  operations: number;
  answers: Record<string, number>;
  failures: string[];
  settledMs: number;
  /** From the start of the servers on. */
  tookMs: number;
  versions: Versions;
  violations: Violation[];
  /** Where the logs and the journal are, if they were kept. */
  folder: string | null;
}

const ttlMs = 3_000;
/** What src/worker observes in: one period. */
const observationMs = 5_000;
const stuckAfterMs = 60_000;
const progressEveryMs = 5_000;

/** What the fleet and the faults tell the workload. */
interface Hearing {
  heard: (line: Record<string, unknown>) => void;
  recent: (count: number) => string[];
}

/**
 * One run: the workload under the faults of a seed, until both are over and all is whole and settled again; and judged.
 * Null where it was interrupted.
 */
export async function chaos(options: ChaosOptions): Promise<ChaosResult | null> {
  try {
    return await wholeRun(options);
  } catch (error) {
    // An interrupt of the keyboard reaches also what the harness has started.
    if (options.signal.aborted) return null;
    throw error;
  }
}

async function wholeRun(options: ChaosOptions): Promise<ChaosResult> {
  const { stores, workers, build, signal } = options;
  const started = performance.now();
  const hearing: Hearing = { heard: () => {}, recent: () => [] };
  const system = await startSystem({
    ...{ stores, workers, build, ttlMs, signal },
    heard: (line) => hearing.heard(line),
    recentTasks: (count) => hearing.recent(count),
  });
  let result: ChaosResult | null = null;
  try {
    const versions = await versionsOf(system);
    const judged = await underFaults(system, options, hearing);
    result = { ...judged, versions, tookMs: performance.now() - started };
    return result;
  } finally {
    const keepFolder = keepsFolder(options, result);
    if (result !== null && keepFolder) {
      result.folder = system.folder;
      writeFileSync(join(system.folder, 'history.json'), JSON.stringify(result.history));
    }
    if (result === null && keepFolder) options.progress(`Logs and journal: ${system.folder}`);
    await system.close(keepFolder);
  }
}

function keepsFolder({ keep, signal }: ChaosOptions, result: ChaosResult | null): boolean {
  if (signal.aborted) return false;
  // What the harness could not bring to its end is to be looked at as well.
  if (result === null) return true;
  return keep === 'always' || result.violations.length > 0;
}

async function underFaults(
  system: RunningSystem,
  options: ChaosOptions,
  hearing: Hearing,
): Promise<Omit<ChaosResult, 'versions' | 'tookMs'>> {
  const { seed, signal, workload, minutes } = options;
  const { fleet, pool, direct, namespace } = system;
  const dispatching = new Dispatching(pool, namespace);
  const operating = new Operating(seeded(seed, 'workload'), workload, dispatching, system.pause);
  hearing.recent = (count) => dispatching.dispatches.flatMap(({ id }) => id ?? []).slice(-count);
  hearing.heard = (line) => operating.heard(line);
  const nemesis = new Nemesis(system, planFor(options, system));
  const watching = new Watching(fleet.lives, pool, direct, namespace);
  watching.start();
  const started = performance.now();
  const isOver = (): boolean => signal.aborted || performance.now() - started >= minutes * 60_000;
  const progress = setInterval(() => {
    const seconds = String(Math.round((performance.now() - started) / 1_000)).padStart(4);
    options.progress(
      `${seconds} s  ${operating.asked} operations, ${watching.unsettled} open; ${nemesis.text}`,
    );
  }, progressEveryMs);
  try {
    await Promise.all([operating.run(fleet.api, () => watching.unsettled, isOver), nemesis.run(isOver)]);
    signal.throwIfAborted();
    const { settledMs, leftovers } = await settleAndStop(system, signal);
    await watching.stop();
    const { faults, failures } = nemesis;
    const { dispatches } = dispatching;
    const known = { ttl: ttlMs * 1_000, observation: observationMs * 1_000, faults, dispatches, leftovers };
    const history: History = {
      ...known,
      runs: readRuns(system.journalPath),
      processes: fleet.lives,
      rows: await readRows(pool, namespace),
      recoveries: watching.recoveries,
    };
    signal.throwIfAborted();
    const violations = check(history).toSorted(byTime);
    const { asked: operations, answers } = operating;
    const outcome = { operations, answers, failures, settledMs, violations };
    return { options, history, ...outcome, folder: null };
  } finally {
    clearInterval(progress);
    await watching.stop();
  }
}

function planFor({ seed, minutes, stores, only }: ChaosOptions, { fleet }: RunningSystem): PlannedFault[] {
  const workers = fleet.workers.map(({ name }) => name);
  return planFaults(seeded(seed, 'faults'), { forMs: minutes * 60_000, ttlMs, stores, workers, only });
}

interface Settlement {
  settledMs: number;
  leftovers: string[];
}

/** Everything is whole again: each task comes to its end, each process is told to stop, and nothing may be left. */
async function settleAndStop(system: RunningSystem, signal: AbortSignal): Promise<Settlement> {
  // Whoever was to resume it may have been refused.
  await system.holdfast(['queues', 'resume', 'side']);
  await system.fleet.allReady(signal);
  const { ms, left } = await settled(system, stuckAfterMs, signal);
  const seconds = Math.round(ms / 1_000);
  const stuck =
    left === 0 ? [] : [`${left} tasks and workers were not settled ${seconds} s after the last fault.`];
  const idle = await findIdle(system);
  const stopped = await system.fleet.stop();
  const complaints = findComplaints(system.folder, system.fleet.lives);
  const leftovers = await findLeftovers(system);
  return { settledMs: ms, leftovers: [...stuck, ...idle, ...stopped, ...complaints, ...leftovers] };
}

function byTime(one: Violation, other: Violation): number {
  return (one.at ?? Infinity) - (other.at ?? Infinity) || 0;
}

import type { History, Violation } from './history.js';
import type { PlannedFault } from './faults/fault-kind.js';
import { check } from './checker.js';
import { Dispatching } from './dispatching.js';
import { findLeftovers } from './leftovers.js';
import { Nemesis, planFaults } from './nemesis.js';
import { Operating } from './operating.js';
import { readRows } from './read-rows.js';
import { readRuns } from './read-runs.js';
import { seeded } from './seeded.js';
import { settled } from './settling.js';
import { startSystem, type RunningSystem } from './system.js';
import { Watching } from './watching.js';

export interface ChaosOptions {
  seed: number;
  minutes: number;
  redis: 'standalone' | 'sentinel';
  workers: number;
  perSecond: number;
  /** The folder of the build under test. */
  build: string;
  only: string[] | null;
  /** Also where all is well. */
  keep: boolean;
  signal: AbortSignal;
  progress: (line: string) => void;
}

export interface ChaosResult {
  options: ChaosOptions;
  history: History;
  plan: PlannedFault[];
  operations: number;
  answers: Record<string, number>;
  failures: string[];
  settledMs: number;
  violations: Violation[];
  /** Where the logs and the journal are, if they were kept. */
  folder: string | null;
  interrupted: boolean;
}

const ttlMs = 3_000;
/** What src/worker observes in: one period. */
const observationMs = 5_000;
const stuckAfterMs = 60_000;

/** One run: the workload under the faults of a seed, until both are over and all is whole and settled again; and judged. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, redis, workers, build, signal, minutes, only } = options;
  const hearing: { heard: (line: Record<string, unknown>) => void; recent: (count: number) => string[] } = {
    heard: () => {},
    recent: () => [],
  };
  const system = await startSystem({
    ...{ redis, workers, build, ttlMs, signal },
    heard: (line) => hearing.heard(line),
    recentTasks: (count) => hearing.recent(count),
  });
  let result: ChaosResult | null = null;
  try {
    const forMs = minutes * 60_000;
    const names = system.fleet.workers.map(({ name }) => name);
    const plan = planFaults(seeded(seed, 'faults'), { forMs, ttlMs, redis, workers: names, only });
    result = await underFaults(system, options, plan, hearing);
    return result;
  } finally {
    const keepFolder = options.keep || (result !== null && result.violations.length > 0);
    if (result !== null) result.folder = keepFolder ? system.folder : null;
    await system.close(keepFolder);
  }
}

async function underFaults(
  system: RunningSystem,
  options: ChaosOptions,
  plan: PlannedFault[],
  hearing: { heard: (line: Record<string, unknown>) => void; recent: (count: number) => string[] },
): Promise<ChaosResult> {
  const { seed, signal, perSecond, minutes } = options;
  const dispatching = new Dispatching(system.pool, system.namespace);
  hearing.recent = (count) => dispatching.dispatches.flatMap(({ id }) => id ?? []).slice(-count);
  const operating = new Operating(seeded(seed, 'workload'), perSecond, dispatching, system.pause);
  hearing.heard = (line) => operating.heard(line);
  const nemesis = new Nemesis(system, plan);
  const watching = new Watching(system.fleet.lives, system.pool, system.direct, system.namespace);
  watching.start();
  const started = performance.now();
  const forMs = minutes * 60_000;
  const isOver = (): boolean => signal.aborted || performance.now() - started >= forMs;
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    const running = nemesis.faults.filter(({ to }) => to === Number.MAX_SAFE_INTEGER);
    const now = running.map(({ kind, target }) => `${kind} ${target}`.trim()).join(', ');
    const counts = `${operating.asked} operations, ${nemesis.faults.length} of ${plan.length} faults`;
    options.progress(`${String(seconds).padStart(4)} s  ${counts}${now === '' ? '' : `; now: ${now}`}`);
  }, 5_000);
  try {
    await Promise.all([operating.run(system.fleet.api, isOver), nemesis.run(isOver)]);
    // A deploy may have paused it and died.
    await system.holdfast(['queues', 'resume', 'side']);
    await system.fleet.allReady();
    const { ms, left } = await settled(system, stuckAfterMs);
    const stuck =
      left === 0
        ? []
        : [`${left} tasks and workers were not settled, ${Math.round(ms / 1_000)} s after the last fault.`];
    await watching.stop();
    const stopped = await system.fleet.stop();
    const leftovers = [...stuck, ...stopped, ...(await findLeftovers(system))];
    const history: History = {
      ...{ ttl: ttlMs * 1_000, observation: observationMs * 1_000, leftovers },
      runs: readRuns(system.journalPath),
      processes: system.fleet.lives,
      faults: nemesis.faults,
      dispatches: dispatching.dispatches,
      rows: await readRows(system.pool, system.namespace),
      recoveries: watching.recoveries,
    };
    const violations = check(history).toSorted((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
    const { asked: operations, answers } = operating;
    const outcome = { operations, answers, failures: nemesis.failures, settledMs: ms, violations };
    return { options, history, plan, ...outcome, folder: null, interrupted: signal.aborted };
  } finally {
    clearInterval(progress);
    await watching.stop();
  }
}

import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { CurrentEpoch } from '../recovery/current-epoch.js';
import type { Store } from '../store/store.js';
import type { Isolation } from '../tasks/definition.js';
import type { LoadedDefinitions } from '../tasks/dispatch/prepare-task.js';
import type { ListenForDispatches } from './dispatch-listening.js';
import type { Beater } from './heartbeat.js';
import type { Offer } from './served-lanes.js';
import { InvalidTask, NotConfigured } from '../errors.js';
import { silentLogger } from '../log.js';
import { checkName } from '../resources.js';
import { shown } from '../shown.js';
import { requireOptions } from '../tasks/known-options.js';
import { readVersion } from './served-lanes.js';

export interface WorkerOptions {
  store: Store;
  /** Started. */
  table: LockTable;
  /** Shared by all that this process does with the table. */
  epoch: CurrentEpoch;
  definitions: LoadedDefinitions;
  /** How it proves that it is alive. */
  beater: Beater;
  /** Not necessarily unique: the incarnation tells two workers of one name apart. */
  name: string;
  /** Absolute paths of the files that export the definitions, for those that run in children. Default: none. */
  taskFiles?: readonly string[];
  /** How many tasks it runs at a time. Default 10. */
  concurrency?: number;
  /** After how many milliseconds without a beat it may be declared dead. Default 15,000. */
  ttlMs?: number;
  /** Default: `default` alone. */
  queues?: readonly string[];
  /** What it offers to the `needs` of tasks, by library. Default: nothing. */
  versions?: Readonly<Record<string, string>>;
  /** Whether nobody else ever has this name, so that whoever had it before is dead. Default false. */
  soleName?: boolean;
  /** Earlier incarnations of this name that this process was, and of which no handler is left. Default: none. */
  predecessors?: readonly string[];
  /** For definitions that leave it open. Default `inline`. */
  isolation?: Isolation;
  /** How long `stop` lets tasks finish before their signals abort, in milliseconds. Default 30,000. */
  graceMs?: number;
  /** Whether a fence ends this process, whatever runs in it; see HeartbeatOptions. Default false. */
  killWhenFenced?: boolean;
  /** Default: silent. */
  log?: Logger;
  /** Hears of tasks that were dispatched from SQL. Without it only the poll of admission finds them. */
  listenForDispatches?: ListenForDispatches;
  /** Called once, when it has begun to take tasks. */
  onReady?(worker: { name: string; incarnation: string }): void;
  /**
   * Called once, when it may no longer act: signals are aborted and children killed by then. `handlers` is how
   * many handlers have not returned yet: nothing may start under its name in this process before they have.
   */
  onFenced?(fencing: { reason: Error; handlers: number }): void;
  /**
   * Called once, where handlers in this process do not heed their signals: 3 s after the grace of a stop was over, or
   * soon after a fence. Whoever calls decides: the worker itself goes on waiting for them.
   */
  onUnstoppable?(unstoppable: { handlers: number }): void;
}

/** Longer, a dead worker's tasks would wait for a day and more. */
const longestTtlMs = 86_400_000;

export interface CheckedWorkerOptions {
  name: string;
  concurrency: number;
  ttlMs: number;
  graceMs: number;
  isolation: Isolation;
  soleName: boolean;
  taskFiles: string[];
  offer: Offer;
  log: Logger;
}

/** With the defaults. Throws InvalidTask or NotConfigured for what cannot work. */
export function checkWorkerOptions(options: WorkerOptions): CheckedWorkerOptions {
  const { definitions, name, concurrency = 10, ttlMs = 15_000, isolation = 'inline' } = options;
  const { graceMs = 30_000, soleName = false } = options;
  checkName(name, 'The name of a worker');
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new InvalidTask(
      `A worker's concurrency must be an integer, 1 … 10,000; got ${shown(concurrency)}.`,
    );
  }
  if (!Number.isFinite(ttlMs) || ttlMs < 1_000 || ttlMs > longestTtlMs) {
    throw new InvalidTask(`A worker's ttl must be 1,000 ms … 24 hours; got ${shown(ttlMs)}.`);
  }
  if (options.onUnstoppable !== undefined && typeof options.onUnstoppable !== 'function') {
    throw new InvalidTask(
      `A worker's onUnstoppable must be a function; got ${shown(options.onUnstoppable)}.`,
    );
  }
  if (typeof soleName !== 'boolean') {
    throw new InvalidTask(`A worker's soleName must be true or false; got ${shown(soleName)}.`);
  }
  if (isolation !== 'inline' && isolation !== 'child') {
    throw new InvalidTask(`A worker's isolation must be "inline" or "child"; got ${shown(isolation)}.`);
  }
  const taskFiles = checkTexts(options.taskFiles ?? [], 'taskFiles');
  const inChildren = [...definitions.values()].find((one) => (one.isolation ?? isolation) === 'child');
  if (inChildren !== undefined && taskFiles.length === 0) {
    const which = JSON.stringify(inChildren.name);
    throw new NotConfigured(`Task ${which} runs in a child process, which must load it from a task file.`);
  }
  const offer = {
    queues: checkTexts(options.queues ?? ['default'], 'queues'),
    names: [...definitions.keys()],
    versions: checkVersions(options.versions ?? {}),
  };
  for (const queue of offer.queues) checkName(queue, 'A queue');
  return {
    ...{ name, concurrency, ttlMs, graceMs, isolation, soleName, taskFiles, offer },
    log: options.log ?? silentLogger,
  };
}

/** A copy. Throws InvalidTask for anything but a list of texts: a text alone would be taken for its letters. */
export function checkTexts(given: unknown, option: string): string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return [...given];
  throw new InvalidTask(`A worker's ${option} must be a list of texts; got ${shown(given)}.`);
}

function checkVersions(versions: Readonly<Record<string, string>>): Record<string, string> {
  requireOptions(versions, `A worker's "versions"`);
  for (const [library, version] of Object.entries(versions)) {
    checkName(library, 'A library in "versions"');
    checkName(version, `The version of ${JSON.stringify(library)}`);
    if (readVersion(version) !== null) continue;
    throw new InvalidTask(
      `The version of ${JSON.stringify(library)} must be one such as "6.1.0" or "6"; got ${shown(version)}.`,
    );
  }
  return { ...versions };
}

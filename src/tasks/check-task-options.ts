import type { Duration } from '../durations.js';
import type { Policies } from '../store/store.js';
import type { Isolation, TaskOptions } from './definition.js';
import validRange from 'semver/ranges/valid.js';
import { milliseconds } from '../durations.js';
import { InvalidTask } from '../errors.js';
import { checkName } from '../resources.js';
import { refuseUnknownOptions } from './known-options.js';
import { shown } from '../shown.js';

interface CheckedOptions {
  name: string;
  queue: string;
  priority: number;
  needs: Record<string, string>;
  isolation: Isolation | null;
  policies: Policies;
}

interface UncheckedOptions {
  run?: unknown;
  rollback?: unknown;
  rollbackTimeout?: unknown;
  resources?: unknown;
  payload?: { '~standard'?: { validate?: unknown } | null } | null;
}

const taskOptions = [
  'name',
  'payload',
  'resources',
  'maxAttempts',
  'backoff',
  'timeout',
  'onWorkerLost',
  'maxCrashes',
  'isolation',
  'needs',
  'queue',
  'priority',
  'run',
  'rollback',
  'rollbackTimeout',
] as const;

/** The longest delay that a timer of Node keeps. */
export const longestTimerMs = 2_147_483_647;

/** The options with their defaults. Throws InvalidTask for the first that is unknown or malformed. */
export function checkTaskOptions<Input, Output, Result>(
  options: TaskOptions<Input, Output, Result>,
): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidTask('defineTask takes an object with at least "name" and "run".');
  }
  checkName(options.name, 'The name of a task');
  const task = `Task ${JSON.stringify(options.name)}`;
  refuseUnknownOptions(options, taskOptions, task);
  checkFunctions(options, task);
  return {
    name: options.name,
    queue: checkQueue(options.queue ?? 'default', task),
    priority: checkPriority(options.priority ?? 0, task),
    needs: checkNeeds(options.needs ?? {}, task),
    isolation: oneOf(options.isolation, ['inline', 'child'], `${task}: isolation`),
    policies: {
      maxAttempts: count(options.maxAttempts ?? 1, `${task}: maxAttempts`),
      maxCrashes: count(options.maxCrashes ?? 3, `${task}: maxCrashes`),
      backoff: checkBackoff(options.backoff ?? {}, task),
      onWorkerLost: oneOf(options.onWorkerLost, ['retry', 'fail'], `${task}: onWorkerLost`),
      timeoutMs: options.timeout === undefined ? null : timerMs(options.timeout, `${task}: timeout`, 1),
      rollbackTimeoutMs:
        options.rollback === undefined
          ? null
          : timerMs(options.rollbackTimeout ?? '1m', `${task}: rollbackTimeout`, 1),
    },
  };
}

export function checkQueue(queue: unknown, task: string): string {
  checkName(queue, `${task}: queue`);
  return queue;
}

export function checkPriority(priority: unknown, task: string): number {
  if (Number.isInteger(priority) && Math.abs(Number(priority) + 0.5) < 32_768) return Number(priority);
  throw new InvalidTask(`${task}: priority must be an integer, -32768 … 32767; got ${shown(priority)}.`);
}

function checkFunctions(options: object, task: string): void {
  const { run, rollback, rollbackTimeout, resources, payload } = options as UncheckedOptions;
  if (typeof run !== 'function') throw new InvalidTask(`${task}: run must be a function.`);
  if (rollback !== undefined && typeof rollback !== 'function') {
    throw new InvalidTask(`${task}: rollback must be a function.`);
  }
  if (rollback === undefined && rollbackTimeout !== undefined) {
    throw new InvalidTask(`${task}: rollbackTimeout is the limit of a rollback, and there is none.`);
  }
  if (resources !== undefined && typeof resources !== 'function') {
    throw new InvalidTask(`${task}: resources must be a function of the payload.`);
  }
  if (payload === undefined) return;
  if (typeof payload?.['~standard']?.validate !== 'function') {
    throw new InvalidTask(
      `${task}: payload must be a Standard Schema, as zod, valibot or arktype make them.`,
    );
  }
}

function checkNeeds(needs: Record<string, string>, task: string): Record<string, string> {
  if (typeof needs !== 'object')
    throw new InvalidTask(`${task}: needs must be an object; got ${shown(needs)}.`);
  for (const [library, range] of Object.entries(needs)) {
    checkName(library, `${task}: a name in needs`);
    if (typeof range !== 'string' || validRange(range) === null) {
      throw new InvalidTask(`${task}: needs.${library} must be a version range; got ${shown(range)}.`);
    }
  }
  return { ...needs };
}

function checkBackoff(backoff: { initial?: Duration; max?: Duration }, task: string): Policies['backoff'] {
  refuseUnknownOptions(backoff, ['initial', 'max'], `${task}: backoff`);
  const initialMs = timerMs(backoff.initial ?? '1s', `${task}: backoff.initial`, 0);
  const maxMs = timerMs(backoff.max ?? Math.max(300_000, initialMs), `${task}: backoff.max`, 0);
  if (maxMs < initialMs) throw new InvalidTask(`${task}: backoff.max must not be less than backoff.initial.`);
  return { initialMs, maxMs };
}

export function timerMs(duration: Duration, what: string, least: number): number {
  const value = Math.round(milliseconds(duration, what));
  if (value >= least && value <= longestTimerMs) return value;
  throw new InvalidTask(`${what} must be ${least} ms … 24 days; got ${shown(duration)}.`);
}

function count(value: unknown, what: string): number {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1_000_000) return Number(value);
  throw new InvalidTask(`${what} must be an integer, 1 … 1,000,000; got ${shown(value)}.`);
}

function oneOf<Value extends string>(value: unknown, allowed: readonly Value[], what: string): Value | null {
  if (value === undefined) return null;
  if (allowed.includes(value as Value)) return value as Value;
  throw new InvalidTask(
    `${what} must be ${allowed.map((one) => `"${one}"`).join(' or ')}; got ${shown(value)}.`,
  );
}

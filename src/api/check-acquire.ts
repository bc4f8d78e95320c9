import type { Resources } from '../resources.js';
import type { Acquire } from './ad-hoc-locks.js';
import type { AcquireOptions } from './ad-hoc-lock.js';
import { InvalidTask } from '../errors.js';
import { normalizeResources } from '../resources.js';
import { shown } from '../shown.js';
import { timerMs } from '../tasks/check-task-options.js';
import { refuseUnknownOptions } from '../tasks/known-options.js';

/** What was asked for, with its resources in normal form. Throws InvalidTask. */
export function checkAcquire(resources: Partial<Resources>, options: AcquireOptions): Omit<Acquire, 'asker'> {
  const what = 'locks.acquire';
  refuseUnknownOptions(resources, ['exclusive', 'shared'], what);
  if ((options as unknown) === undefined) throw waitMissing();
  refuseUnknownOptions(options, ['wait', 'signal'], what);
  const { wait, signal } = options;
  if ((wait as unknown) === undefined) throw waitMissing();
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidTask(`${what}: signal must be an AbortSignal; got ${shown(signal)}.`);
  }
  const { exclusive, shared } = normalizeResources(resources);
  if (exclusive.length + shared.length === 0) throw new InvalidTask(`${what} needs at least one resource.`);
  return { exclusive, shared, waitMs: timerMs(wait, `${what}: wait`, 0), signal };
}

function waitMissing(): InvalidTask {
  return new InvalidTask('locks.acquire needs "wait": how long to wait at most, 0 for now or not at all.');
}

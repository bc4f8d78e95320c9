import type { TaskDefinition } from '../definition.js';
import type { DispatchedTask, DispatchOptions } from './dispatch-signature.js';
import type { LoadedDefinitions, PreparedTask } from './prepare-task.js';
import { InvalidTask, ResourcesBusy, UnknownTask } from '../../errors.js';
import { shown } from '../../shown.js';

export interface ImmediatePorts {
  /** Runs a task in this process, under resources that are free now. Throws ResourcesBusy where they are not. */
  runNow(prepared: PreparedTask): Promise<DispatchedTask>;
  /** The definitions by name, also those loaded later. */
  loaded: LoadedDefinitions;
}

/** When a task is to run: in its turn, at once or not at all, or at once if that can be. */
type When = 'queued' | 'now' | 'now-or-queued';

/** Throws InvalidTask for options that do not go together. */
export function checkImmediate(options: DispatchOptions): When {
  const { tx, runAt, uniqueKey, immediate = false, deferred = false } = options;
  for (const [option, value] of Object.entries({ immediate, deferred })) {
    if (typeof value !== 'boolean')
      throw new InvalidTask(`${option} must be true or false; got ${shown(value)}.`);
  }
  if (!immediate && deferred)
    throw new InvalidTask('"deferred" says what to do where "immediate" cannot be.');
  if (!immediate) return 'queued';
  if (tx !== undefined) throw new InvalidTask('An immediate task runs before a transaction could commit it.');
  if (runAt !== undefined) throw new InvalidTask('An immediate task runs now; it takes no "runAt".');
  if (uniqueKey !== undefined) throw new InvalidTask('An immediate task takes no "uniqueKey".');
  return deferred ? 'now-or-queued' : 'now';
}

/** The task as it runs here; null where it is to be dispatched like any other. */
export async function runNow(
  ports: ImmediatePorts,
  prepared: PreparedTask,
  target: TaskDefinition | string,
  when: When,
): Promise<DispatchedTask | null> {
  if (when === 'queued' || !mayRunHere(target, ports.loaded, when)) return null;
  try {
    return await ports.runNow(prepared);
  } catch (error) {
    if (when === 'now-or-queued' && error instanceof ResourcesBusy) return null;
    throw error;
  }
}

/**
 * Whether this process can run the task. Throws UnknownTask where its definition is not loaded, and InvalidTask for one
 * that must run elsewhere, unless it may be queued.
 */
function mayRunHere(target: TaskDefinition | string, loaded: LoadedDefinitions, when: When): boolean {
  const name = typeof target === 'string' ? target : target.name;
  const definition = loaded.get(name);
  if (definition === undefined || (typeof target !== 'string' && target !== definition)) {
    throw new UnknownTask(`To run ${shown(name)} at once, give its definition to createHoldfast.`);
  }
  const obstacle = whyNotHere(definition);
  if (obstacle === null || when === 'now-or-queued') return obstacle === null;
  throw new InvalidTask(`Task ${JSON.stringify(name)} cannot run at once: ${obstacle}.`);
}

function whyNotHere({ isolation, needs }: TaskDefinition): string | null {
  if (isolation === 'child') return 'it runs in a child process of a worker';
  const [library] = Object.keys(needs);
  return library === undefined ? null : `it needs ${JSON.stringify(library)}, which a worker must offer`;
}

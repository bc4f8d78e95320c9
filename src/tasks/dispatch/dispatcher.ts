import type { Queryable } from '../../store/database.js';
import type { TaskDefinition } from '../definition.js';
import type {
  Dispatch,
  DispatchedTask,
  DispatchMany,
  DispatchOptions,
  HandlerDispatchOptions,
  TransactionOption,
} from './dispatch-signature.js';
import type { ImmediatePorts } from './immediate.js';
import type { InsertPorts } from './insert-tasks.js';
import type { LoadedDefinitions, PreparedTask } from './prepare-task.js';
import { HoldfastError, InvalidTask, PayloadTooLarge } from '../../errors.js';
import { checkTransaction } from '../check-transaction.js';
import { refuseUnknownOptions, requireOptions } from '../known-options.js';
import { AdmissionWaker } from './admission-waker.js';
import { dispatchedTasks } from './dispatched-task.js';
import { checkImmediate, runNow } from './immediate.js';
import { insertInTransaction, insertPrepared } from './insert-tasks.js';
import { prepareTask } from './prepare-task.js';

export interface DispatchPorts extends ImmediatePorts {
  /** What tasks are inserted through, when it is ready. */
  connect(): Promise<InsertPorts & { canWake: boolean }>;
  /** Wakes admission through the lock table. Where that is not at hand yet, the insert itself notifies as well. */
  wakeAdmission(): Promise<void>;
}

export interface Dispatcher {
  dispatch: Dispatch<DispatchOptions>;
  dispatchMany: DispatchMany;
  /** Resolves when the wake-ups of what was dispatched are sent. */
  idle(): Promise<void>;
}

interface UntypedRequest extends HandlerDispatchOptions {
  task?: TaskDefinition | string;
  name?: string;
  payload?: unknown;
}

/** Checks tasks, inserts them and wakes admission. */
export function createDispatcher(ports: DispatchPorts): Dispatcher {
  const waker = new AdmissionWaker(ports);

  async function insert(prepared: PreparedTask[], tx: Queryable | undefined): Promise<DispatchedTask[]> {
    if (prepared.length === 0) return [];
    const backend = await ports.connect();
    // Of a transaction nobody here learns when it commits, so the wake-up is part of it.
    const instead =
      tx === undefined
        ? await insertPrepared(backend, prepared, !backend.canWake)
        : await insertInTransaction(backend, prepared, tx, true);
    if (tx === undefined) waker.wake();
    return dispatchedTasks(prepared, instead);
  }

  async function dispatch(
    target: TaskDefinition | string,
    payload?: unknown,
    given: DispatchOptions = {},
  ): Promise<DispatchedTask> {
    requireOptions(given, 'dispatch');
    const { tx, immediate: _immediate, deferred: _deferred, ...options } = given;
    if (tx !== undefined) checkTransaction(tx);
    const from = { loaded: ports.loaded, parent: null, alsoTakes: ['immediate', 'deferred', 'tx'] };
    // First: where one option is misspelt, another one may only seem not to go with the rest.
    const prepared = await prepareTask(target, payload, options, from);
    const when = checkImmediate(given);
    const running = await runNow(ports, prepared, target, when);
    if (running !== null) return running;
    const [task] = await insert([prepared], tx);
    return task as DispatchedTask;
  }

  async function dispatchMany(
    requests: readonly UntypedRequest[],
    options: TransactionOption = {},
  ): Promise<DispatchedTask[]> {
    refuseUnknownOptions(options, ['tx'], 'dispatchMany');
    if (options.tx !== undefined) checkTransaction(options.tx);
    return insert(await prepareAll(requests, ports.loaded), options.tx);
  }

  return {
    dispatch,
    dispatchMany,
    idle: () => waker.idle(),
  };
}

async function prepareAll(
  requests: readonly UntypedRequest[],
  loaded: LoadedDefinitions,
): Promise<PreparedTask[]> {
  if (!Array.isArray(requests)) throw new InvalidTask('dispatchMany takes a list of tasks.');
  const prepared: PreparedTask[] = [];
  for (const [index, request] of requests.entries()) {
    try {
      const { target, payload, options } = partsOf(request as UntypedRequest | null);
      prepared.push(await prepareTask(target, payload, options, { loaded, parent: null }));
    } catch (error) {
      throw atIndex(index, error);
    }
  }
  return prepared;
}

function partsOf(request: UntypedRequest | null): {
  target: TaskDefinition | string;
  payload: unknown;
  options: HandlerDispatchOptions;
} {
  const { task, name, payload, ...options } = request ?? {};
  const target = task ?? name;
  if (target !== undefined && (task === undefined || name === undefined)) return { target, payload, options };
  throw new InvalidTask('It must have either "task" or "name".');
}

function atIndex(index: number, error: unknown): unknown {
  if (!(error instanceof HoldfastError)) return error;
  const message = `Number ${index} of the list: ${error.message}`;
  return error instanceof PayloadTooLarge
    ? new PayloadTooLarge(message)
    : new InvalidTask(message, { cause: error.cause });
}

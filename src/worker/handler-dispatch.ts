import type { LockTable } from '../locks/lock-table.js';
import type { Store } from '../store/store.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type {
  DispatchedTask,
  HandlerDispatch,
  HandlerDispatchOptions,
} from '../tasks/dispatch/dispatch-signature.js';
import type { LoadedDefinitions, PreparedTask } from '../tasks/dispatch/prepare-task.js';
import { Fenced, Unavailable } from '../errors.js';
import { AdmissionWaker } from '../tasks/dispatch/admission-waker.js';
import { dispatchedTasks } from '../tasks/dispatch/dispatched-task.js';
import { prepareTask } from '../tasks/dispatch/prepare-task.js';

export interface HandlerDispatchPorts {
  store: Pick<Store, 'insertTasks'>;
  table: Pick<LockTable, 'wakeAdmission'>;
  loaded: LoadedDefinitions;
  mayAct(): boolean;
}

/** What handlers dispatch, each task with the one that dispatched it as its parent. */
export class HandlerDispatching {
  readonly #ports: HandlerDispatchPorts;
  readonly #waker: AdmissionWaker;

  constructor(ports: HandlerDispatchPorts) {
    this.#ports = ports;
    this.#waker = new AdmissionWaker(ports.table);
  }

  /** For a handler that runs in this process. */
  of(parent: string): HandlerDispatch {
    return async (
      target: TaskDefinition | string,
      payload?: unknown,
      options: HandlerDispatchOptions = {},
    ): Promise<DispatchedTask> => {
      const from = { loaded: this.#ports.loaded, parent };
      return this.insert(parent, await prepareTask(target, payload, options, from));
    };
  }

  /**
   * Inserts what a handler prepared. Once more where the reply was lost: the id was made beforehand, so a row
   * that is there already stays as it is.
   */
  async insert(parent: string, prepared: PreparedTask): Promise<DispatchedTask> {
    const { store, mayAct } = this.#ports;
    if (!mayAct()) throw new Fenced('A handler of a worker that may no longer act cannot dispatch.');
    const task = { ...prepared.task, parent };
    const instead = await store.insertTasks([task]).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error;
      return store.insertTasks([task]);
    });
    this.#waker.wake();
    const [dispatched] = dispatchedTasks([{ task }], instead);
    return dispatched as DispatchedTask;
  }
}

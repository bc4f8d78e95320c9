import type { Holdfast } from '../holdfast.js';
import type { Logger } from '../log.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type { Dispatch, DispatchMany, DispatchOptions } from '../tasks/dispatch/dispatch-signature.js';
import type { Dispatcher } from '../tasks/dispatch/dispatcher.js';
import type { Task } from '../tasks/task.js';
import type { WaitOptions } from '../tasks/wait/wait-for-task.js';
import type { Backend } from './backend.js';
import type { Worker, WorkerOptions } from './worker.js';
import { ApiOwner } from '../api/api-owner.js';
import { defaultWorkerName } from '../configuration.js';
import { Unavailable } from '../errors.js';
import { currentHandler } from '../handler-context.js';
import { auditLocks } from '../recovery/audit-locks.js';
import { cancelTask } from '../tasks/cancel-task.js';
import { pauseQueue, resumeQueue } from '../tasks/pause-queue.js';
import { retryingTasks } from '../tasks/retry-tasks.js';
import { createDispatcher } from '../tasks/dispatch/dispatcher.js';
import { listLocks } from '../tasks/reading/list-locks.js';
import { listOwners } from '../tasks/reading/list-owners.js';
import { listPausedQueues } from '../tasks/reading/list-paused-queues.js';
import { listTasks } from '../tasks/reading/list-tasks.js';
import { listWorkers } from '../tasks/reading/list-workers.js';
import { taskOf } from '../tasks/task.js';
import { SettlementWatch } from '../tasks/wait/settlement-watch.js';
import { waitInHandler } from '../tasks/wait/wait-in-handler.js';
import { rowOf, waitForTask } from '../tasks/wait/wait-for-task.js';
import { endsWithin } from '../worker/ends-within.js';
import { announcementsOf } from './announcements.js';
import { Hints } from './hints.js';
import { WorkerInProcess } from './worker-in-process.js';

export interface HoldfastPorts {
  backend: Backend;
  loaded: Map<string, TaskDefinition>;
  log: Logger;
}

const hintsLimitMs = 2_000;

export class HoldfastInProcess implements Holdfast {
  readonly dispatch: Dispatch<DispatchOptions>;
  readonly dispatchMany: DispatchMany;
  readonly tasks: Holdfast['tasks'];
  readonly queues: Holdfast['queues'];
  readonly workers: Holdfast['workers'];
  readonly locks: Holdfast['locks'];
  readonly #ports: HoldfastPorts;
  readonly #dispatcher: Dispatcher;
  readonly #hints: Hints;
  readonly #workers = new Set<Worker>();
  readonly #api: ApiOwner;
  #watch: SettlementWatch | null = null;
  #closing: Promise<void> | null = null;
  #handlersEnded = false;

  constructor(ports: HoldfastPorts) {
    const { backend, loaded, log } = ports;
    this.#ports = ports;
    this.#api = new ApiOwner(async () => {
      const { store, table, epoch } = await this.#withTable();
      const name = defaultWorkerName(process.env);
      return { store, table, epoch, definitions: loaded, beater: backend.beater, name, log };
    });
    this.#hints = new Hints(backend);
    this.#dispatcher = createDispatcher({
      connect: async () => this.#ready(),
      wakeAdmission: () => backend.wakeAdmission(),
      runNow: (prepared) => this.#api.runNow(prepared),
      loaded,
    });
    this.dispatch = this.#dispatcher.dispatch;
    this.dispatchMany = this.#dispatcher.dispatchMany;
    this.tasks = {
      get: async (id) => taskOf(await rowOf((await this.#ready()).store, id)),
      list: async (options) => listTasks((await this.#ready()).store, options),
      cancel: async (id) => {
        const { store } = await this.#ready();
        return cancelTask({ store, hint: (hint) => this.#hints.give(hint) }, id);
      },
      retry: retryingTasks(() => this.#waking()),
    };
    this.queues = {
      pause: async (queue) => pauseQueue(await this.#waking(), queue),
      resume: async (queue) => resumeQueue(await this.#waking(), queue),
      list: async (options) => listPausedQueues((await this.#ready()).store, options),
    };
    this.workers = { list: async (options) => listWorkers((await this.#ready()).store, options) };
    this.locks = {
      acquire: (resources, options) => this.#api.acquire(resources, options),
      list: async (options) => listLocks(await this.#withTable(), options),
      owners: async (options) => listOwners(await this.#withTable(), options),
      audit: async (options) => auditLocks({ ...(await this.#withTable()), log }, options),
    };
  }

  async wait(id: string, options?: WaitOptions): Promise<Task> {
    const { store } = await this.#ready();
    const watch = (this.#watch ??= new SettlementWatch({
      ...{ store, table: announcementsOf(this.#ports.backend) },
    }));
    const handler = currentHandler();
    if (handler === undefined) return waitForTask({ store, watch }, id, options);
    return waitInHandler(await this.#withTable(), handler, id, (over) =>
      waitForTask({ store, watch, over }, id, options),
    );
  }

  createWorker(options: WorkerOptions = {}): Worker {
    const worker = new WorkerInProcess(options, this.#ports);
    this.#workers.add(worker);
    return worker;
  }

  async migrate(): Promise<{ applied: string[] }> {
    this.#refuseWhenClosed();
    return this.#ports.backend.store.migrate();
  }

  async pendingMigrations(): Promise<string[]> {
    this.#refuseWhenClosed();
    return this.#ports.backend.store.pendingMigrations();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop()));
    await this.#api.close();
    this.#handlersEnded = true;
    this.#watch?.stop();
    // What is not told by then is found by those who poll.
    await endsWithin(Promise.all([this.#dispatcher.idle(), this.#hints.idle()]), hintsLimitMs);
    await this.#ports.backend.close();
  }

  async #ready(): Promise<Backend> {
    this.#refuseWhenClosed();
    await this.#ports.backend.storeReady();
    return this.#ports.backend;
  }

  async #waking(): Promise<Pick<Backend, 'store'> & { wakeAdmission(): void }> {
    const { store } = await this.#ready();
    return { store, wakeAdmission: () => this.#hints.give((table) => table.wakeAdmission()) };
  }

  async #withTable(): Promise<Pick<Backend, 'store'> & Awaited<ReturnType<Backend['openTable']>>> {
    const { store } = await this.#ready();
    return { store, ...(await this.#ports.backend.openTable()) };
  }

  /** While it closes, handlers that it waits for go on, and must not fail for want of it. */
  #refuseWhenClosed(): void {
    if (this.#closing === null) return;
    if (this.#handlersEnded || currentHandler() === undefined)
      throw new Unavailable('This Holdfast is closed.');
  }
}

import { EventEmitter } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.js';
import type { TaskDefinition } from '../tasks/definition.js';
import type { WorkerProcess } from '../worker/worker.js';
import type { Backend, BackendTable } from './backend.js';
import type { Worker, WorkerOptions } from './worker.js';
import { defaultWorkerName } from '../configuration.js';
import { milliseconds } from '../durations.js';
import { Fenced, NotConfigured, Unavailable, WrongState } from '../errors.js';
import { timerMs } from '../tasks/check-task-options.js';
import { refuseUnknownOptions } from '../tasks/known-options.js';
import { loadTaskFiles } from '../tasks/load-task-files.js';
import { backoffMs, outageBackoff } from '../worker/backoff.js';
import { endsUnlessStopped } from '../worker/ends-within.js';
import { afterGraceMs } from '../worker/stop-limits.js';
import { checkTexts } from '../worker/worker-options.js';
import { createWorkerProcess } from '../worker/worker.js';

export interface WorkerPorts {
  backend: Backend;
  /** The definitions of this process by name; those of task files are added. */
  loaded: Map<string, TaskDefinition>;
  log: Logger;
}

const workerOptions = [
  'name',
  'concurrency',
  'ttl',
  'grace',
  'queues',
  'versions',
  'taskFiles',
  'isolation',
  'soleName',
  'killWhenFenced',
  'onUnstoppable',
];

/** The worker that users see. It opens what it needs when it runs. */
export class WorkerInProcess implements Worker {
  readonly #options: WorkerOptions;
  readonly #ports: WorkerPorts;
  readonly #events = new EventEmitter();
  #process: WorkerProcess | null = null;
  #running: Promise<void> | null = null;
  readonly #stopAsked = new AbortController();

  constructor(options: WorkerOptions, ports: WorkerPorts) {
    refuseUnknownOptions(options, workerOptions, 'createWorker');
    const taskFiles = checkTexts(options.taskFiles ?? [], 'taskFiles');
    if (options.isolation === 'child' && taskFiles.length === 0) {
      throw new NotConfigured('"isolation: \'child\'" needs "taskFiles": a child loads its tasks from them.');
    }
    this.#options = options;
    this.#ports = ports;
  }

  async run(): Promise<void> {
    if (this.#running !== null) throw new WrongState('A worker runs once; create another one.');
    this.#running = this.#open();
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopAsked.abort();
    await this.#process?.stop();
    // What it ended with is told by `run`.
    await this.#running?.catch(() => {});
  }

  on(event: 'ready' | 'fenced', listener: (...args: never[]) => void): this {
    this.#events.on(event, listener as (...args: unknown[]) => void);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #open(): Promise<void> {
    const { loaded, backend } = this.#ports;
    const taskFiles = (this.#options.taskFiles ?? []).map((file) => resolve(file));
    for (const definition of await loadTaskFiles(taskFiles)) {
      if (!loaded.has(definition.name)) loaded.set(definition.name, definition);
    }
    if (loaded.size === 0)
      throw new NotConfigured('A worker needs definitions: give "tasks" or "taskFiles".');
    const opening = backend.openTable();
    if (!(await endsUnlessStopped(opening, this.#stopAsked.signal, afterGraceMs.written))) {
      opening.catch(() => {});
      throw new Unavailable('The worker was told to stop before its stores could be reached.');
    }
    if (this.#stopAsked.signal.aborted) return;
    await this.#live(taskFiles, await opening);
  }

  /** Incarnation after incarnation, until one ends in order or none can follow. */
  async #live(taskFiles: string[], open: BackendTable): Promise<void> {
    const predecessors: string[] = [];
    for (let failures = 1; ; failures += 1) {
      const life = this.#createProcess(taskFiles, open, predecessors);
      this.#process = life;
      try {
        return await life.run();
      } catch (error) {
        const fenced = error instanceof Fenced && this.#options.killWhenFenced !== true;
        const stillAway = error instanceof Unavailable && predecessors.length > 0;
        if (!fenced && !stillAway) throw error;
        if (fenced) failures = 1;
        if (life.owner !== null) predecessors.push(life.owner.incarnation);
        // G1: under a new incarnation, what the old one ran is given to others.
        const { signal } = this.#stopAsked;
        await endsUnlessStopped(life.handlersEnded(), signal, 0);
        await delay(backoffMs(outageBackoff, failures), undefined, { signal }).catch(() => {});
        if (signal.aborted) throw error;
        this.#ports.log.info({ err: error, predecessors }, 'comes back as a new incarnation');
      }
    }
  }

  #createProcess(taskFiles: string[], open: BackendTable, predecessors: readonly string[]): WorkerProcess {
    const { loaded, backend, log } = this.#ports;
    const { database, store } = backend;
    const { name, ttl, grace, taskFiles: _files, ...others } = this.#options;
    return createWorkerProcess({
      ...others,
      ...open,
      predecessors: [...predecessors],
      store,
      definitions: new Map(loaded),
      beater: backend.beater,
      name: name ?? defaultWorkerName(process.env),
      ...(ttl !== undefined && { ttlMs: milliseconds(ttl, 'ttl') }),
      ...(grace !== undefined && { graceMs: timerMs(grace, 'grace', 0) }),
      taskFiles,
      log,
      // Embedded data is out of the reach of other programs, so nothing is dispatched there unheard.
      ...(database.kind === 'postgres' && {
        listenForDispatches: (listener) => database.listen(store.namespace, listener),
      }),
      onReady: (owner) => this.#events.emit('ready', owner),
      onFenced: (fencing) => this.#events.emit('fenced', fencing),
    });
  }
}

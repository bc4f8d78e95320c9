import type { Worker } from '../holdfast/worker.js';
import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import type { WorkerProcess } from './worker-process.js';
import { mirrorTaskFile } from './mirror-demo.js';
import { startWorkerProcess } from './worker-process.js';

/** The workers of a demo, wherever they are. */
export interface DemoWorkers {
  names: string[];
  /** How many tasks all of them can run at once. */
  slots: number;
  /** Rejects when one of them ends before it is stopped. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

export interface DemoWorkerProcesses extends DemoWorkers {
  processOf(name: string): WorkerProcess;
  /** Starts another one under the name of one that was killed. */
  restart(name: string): Promise<void>;
}

/** How the workers of a demo run its tasks. */
export interface WorkersKind {
  slotsInside: number;
  slotsOfProcess: number;
  isolation: 'inline' | 'child';
  ttl: '15s' | '3s';
}

export const calm: WorkersKind = { slotsInside: 8, slotsOfProcess: 4, isolation: 'inline', ttl: '15s' };
/** Children, so that one can be killed alone; few, as each takes its time to start. */
export const crashing: WorkersKind = { slotsInside: 3, slotsOfProcess: 2, isolation: 'child', ttl: '3s' };

/** Fewer than without crashes: a task in a child takes longer, and a killed run begins anew. */
export const tasksOfCrashDemo = 120;

const processes = 3;

/** One worker in this process. */
export async function startWorkerInside(
  hf: Holdfast,
  { slotsInside: slots, isolation, ttl }: WorkersKind,
  name: string,
): Promise<DemoWorkers> {
  const taskFiles = [mirrorTaskFile];
  const worker: Worker = hf.createWorker({ name, concurrency: slots, isolation, ttl, taskFiles });
  const running = worker.run();
  let stopping = false;
  const failed = running.then(() => (stopping ? new Promise<never>(() => {}) : fail('The worker ended.')));
  failed.catch(() => {});
  const stop = async (): Promise<void> => {
    stopping = true;
    await worker.stop();
    await running;
  };
  return { names: [name], slots, failed, stop };
}

/** Several worker processes. */
export async function startWorkerProcesses(
  global: GlobalOptions,
  kind: WorkersKind,
): Promise<DemoWorkerProcesses> {
  const names = Array.from({ length: processes }, (_, at) => `demo-${process.pid}-${at + 1}`);
  const workers = new Map<string, WorkerProcess>();
  let tellFailure = (_reason: Error): void => {};
  const failed = new Promise<never>((_, reject) => {
    tellFailure = reject;
  });
  failed.catch(() => {});
  const restart = async (name: string): Promise<void> => {
    const worker = await startWorkerProcess(argumentsFor(name, kind), global);
    worker.failed.catch(tellFailure);
    workers.set(name, worker);
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...workers.values()].map((worker) => worker.stop()));
  };
  const started = await Promise.allSettled(names.map(restart));
  const failure = started.find((result) => result.status === 'rejected');
  if (failure !== undefined) {
    await stop();
    throw failure.reason;
  }
  const processOf = (name: string): WorkerProcess => workers.get(name) ?? fail(`There is no worker ${name}.`);
  return { names, slots: processes * kind.slotsOfProcess, failed, stop, processOf, restart };
}

function argumentsFor(name: string, { slotsOfProcess, isolation, ttl }: WorkersKind): string[] {
  const slots = String(slotsOfProcess);
  const place = ['--tasks', mirrorTaskFile, '--name', name];
  return [...place, '--concurrency', slots, '--isolation', isolation, '--ttl', ttl];
}

function fail(text: string): never {
  throw new Error(text);
}

import type { Holdfast } from '../holdfast.js';
import type { GlobalOptions } from './global-options.js';
import { mirrorTaskFile } from './mirror-demo.js';
import { startWorkerProcess } from './worker-process.js';

/** The workers of a demo, wherever they are. */
export interface DemoWorkers {
  /** How many there are, and how many tasks they can run at once. */
  workers: number;
  slots: number;
  /** Rejects when one of them ends before it is stopped. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

const slotsInside = 8;
const processes = 3;
const slotsOfProcess = 4;

/** One worker in this process. */
export async function startWorkerInside(hf: Holdfast): Promise<DemoWorkers> {
  const worker = hf.createWorker({ name: `demo-${process.pid}`, concurrency: slotsInside });
  const running = worker.run();
  let stopping = false;
  const failed = running.then(() => (stopping ? new Promise<never>(() => {}) : fail('The worker ended.')));
  failed.catch(() => {});
  return {
    workers: 1,
    slots: slotsInside,
    failed,
    stop: async () => {
      stopping = true;
      await worker.stop();
      await running;
    },
  };
}

/** Several worker processes. */
export async function startWorkerProcesses(global: GlobalOptions): Promise<DemoWorkers> {
  const started = await Promise.allSettled(
    Array.from({ length: processes }, (_, at) => {
      const name = `demo-${process.pid}-${at + 1}`;
      const slots = String(slotsOfProcess);
      return startWorkerProcess(['--tasks', mirrorTaskFile, '--name', name, '--concurrency', slots], global);
    }),
  );
  const workers = started.filter((result) => result.status === 'fulfilled').map(({ value }) => value);
  const stop = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.stop()));
  };
  const failure = started.find((result) => result.status === 'rejected');
  if (failure !== undefined) {
    await stop();
    throw failure.reason;
  }
  const failed = Promise.race(workers.map((worker) => worker.failed));
  failed.catch(() => {});
  return { workers: processes, slots: processes * slotsOfProcess, failed, stop };
}

function fail(text: string): never {
  throw new Error(text);
}

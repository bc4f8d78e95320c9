import type { Beater, Heartbeat } from '../../src/worker/heartbeat.js';
import type { Incarnation } from '../../src/worker/incarnation.js';
import type { KnownHolds } from '../../src/worker/known-holds.js';
import type { WorkerParts } from '../../src/worker/worker-parts.js';
import type { WorkerOptions } from '../../src/worker/worker-options.js';
import type { TaskDefinition } from '../../src/tasks/definition.js';
import type { Owner } from '../../src/owner.js';
import type { World } from './world.js';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../src/log.js';
import { cleanupLocksForWorker } from '../../src/recovery/cleanup-locks-for-worker.js';
import type { CurrentEpoch } from '../../src/recovery/current-epoch.js';
import { createCurrentEpoch } from '../../src/recovery/current-epoch.js';
import { findOrOpenEpoch } from '../../src/recovery/open-epoch.js';
import { releaseStaleLocksForSelf } from '../../src/recovery/release-stale-locks-for-self.js';
import { defineTask } from '../../src/tasks/definition.js';
import { AdmissionLoop } from '../../src/worker/admission.js';
import { checkWorkerOptions } from '../../src/worker/worker-options.js';
import { stopInOrder, stopParts } from '../../src/worker/stop-in-order.js';
import { workerParts } from '../../src/worker/worker-parts.js';
import { handlerOf } from './handlers.js';
import { storePort, tablePort } from './ports.js';
import { ModelProcess } from './process.js';
import { jobName } from './rows.js';

/** A worker as in src/worker/worker.ts: its parts are made by the same function, and its loops are the real ones. */
export async function addWorkerProcess(world: World, name: string, slots: number): Promise<void> {
  const process = new ModelProcess(name, 'worker');
  await world.register(process);
  const incarnation = incarnationOf(world, process);
  const definitions = new Map([[jobName, definitionFor(world, process)]]);
  const beater: Beater = { kind: 'caller', beat: async () => 'beaten' };
  const options: WorkerOptions = { ...incarnation, definitions, beater, name, concurrency: slots };
  const heartbeat = heartbeatOf(process);
  await world.addProcess(process, () => {
    const parts = workerParts(incarnation, heartbeat, options, checkWorkerOptions(options));
    process.parts = parts as WorkerParts & { known: KnownHolds };
    process.fence = () => {
      if (process.status === 'fenced') return;
      process.status = 'fenced';
      parts.attempts.abort(new Error('fenced'));
      void stopParts(parts);
    };
    process.programs.set('beat', async () => {
      void parts.comparing.hearCancels();
      if (!process.busyWith.has('stop')) await parts.comparing.compare();
    });
    process.programs.set('stop', async () => {
      await stopInOrder(parts, heartbeat, { graceMs: 30_000, onUnstoppable: () => {} });
      world.crash(process, 'stopped');
    });
    // Admission is another process's here; what is due for a retry, it finds by itself.
    void parts.admission.stop();
    for (const part of [parts.finishing, parts.releasing, parts.givingBack, parts.claiming]) part.start();
  });
}

export async function addAdmitter(world: World, name: string): Promise<void> {
  const process = new ModelProcess(name, 'admitter');
  const incarnation = incarnationOf(world, process);
  const offer = { queues: ['default'], names: [jobName], versions: {} };
  await world.addProcess(process, () => new AdmissionLoop(incarnation, offer, 15_000).start());
}

/** Whoever has seen a counter stand still for a TTL: it reaps that worker, and cleans up until nothing is left. */
export async function addSweeper(world: World, name: string): Promise<void> {
  const process = new ModelProcess(name, 'sweeper');
  const recovery = incarnationOf(world, process);
  await world.addProcess(process, () => {
    for (const dead of world.processes.filter(({ kind }) => kind === 'worker')) {
      process.programs.set(`sweep ${dead.name}`, async () => {
        const { incarnation } = dead;
        const owner: Owner = { name: dead.name, incarnation };
        const counter = String(world.rows.workers.get(incarnation)?.counter ?? 0);
        if ((await recovery.store.reapWorker(incarnation, counter)) === 'alive') return;
        while (!(await cleanupLocksForWorker(recovery, owner))) await delay(1_000);
      });
    }
  });
}

/** The next incarnation of a worker that is provably dead, when it starts: it does not wait for a TTL. */
export async function addHeir(world: World, name: string): Promise<void> {
  const process = new ModelProcess(`heir of ${name}`, 'sweeper');
  const recovery = incarnationOf(world, process);
  const dead = world.processes.find((one) => one.name === name);
  const isDead = async (): Promise<boolean> => dead?.status === 'crashed';
  await world.addProcess(process, () => {
    process.programs.set(`sweep ${name}`, async () => {
      const self = { name, incarnation: '1000' };
      while (!(await releaseStaleLocksForSelf(recovery, self, isDead))) await delay(1_000);
    });
  });
}

export async function addClient(world: World, what: string): Promise<void> {
  const process = new ModelProcess(what, 'client');
  const store = storePort(world, process);
  const [, task = ''] = what.split(' ');
  await world.addProcess(process, async () => {
    if (what.startsWith('cancel')) await store.cancelTask(task);
    if (what.startsWith('pause')) await store.pauseQueue('default');
    if (what.endsWith('resume')) await store.resumeQueue('default');
  });
}

function incarnationOf(world: World, process: ModelProcess): Incarnation {
  const store = storePort(world, process);
  const table = tablePort(world, process);
  const log = silentLogger;
  return {
    owner: { name: process.name, incarnation: process.incarnation },
    ...{ store, table, log },
    epoch: epochOf(world, process, () => findOrOpenEpoch({ store, table, log })),
    mayAct: () => process.mayAct,
    isFenced: () => process.status === 'fenced',
    fence: () => process.fence(),
  };
}

function epochOf(world: World, process: ModelProcess, find: () => Promise<string>): CurrentEpoch {
  const epoch = createCurrentEpoch(find);
  const refused = (old: string): void => {
    if (process.epoch === old) process.epoch = null;
    epoch.refused(old);
  };
  return {
    get: async () => {
      // Who admits is part of a worker, whose claims and beats are refused in an epoch that is over.
      const { epoch: known } = process;
      if (process.kind === 'admitter' && known !== null && known !== world.rows.epoch) refused(known);
      return (process.epoch = await epoch.get());
    },
    refused,
    onRefused: (old, listener) => epoch.onRefused(old, listener),
  };
}

function heartbeatOf(process: ModelProcess): Heartbeat {
  return {
    prepare: async () => {},
    start: async () => {},
    stop: async () => {
      process.beatsNoMore = true;
    },
    ...{ fenced: new AbortController().signal, watchdogAddress: '' },
    mayAct: () => process.mayAct,
    onBeat: () => () => {},
  };
}

function definitionFor(world: World, process: ModelProcess): TaskDefinition {
  return defineTask({
    name: jobName,
    run: (_payload, { task, signal }) => handlerOf(world, process, 'run', task, signal),
    rollback: (_payload, { task, signal }) => handlerOf(world, process, 'rollback', task, signal),
  });
}

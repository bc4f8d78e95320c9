import type { Beater, Heartbeat } from '../../src/worker/heartbeat.js';
import type { Incarnation } from '../../src/worker/incarnation.js';
import type { KnownHolds } from '../../src/worker/known-holds.js';
import type { WorkerParts } from '../../src/worker/worker-parts.js';
import type { WorkerOptions } from '../../src/worker/worker-options.js';
import type { TaskDefinition } from '../../src/tasks/definition.js';
import type { Owner } from '../../src/owner.js';
import type { LocalProcess } from './local-process.js';
import type { Scenario } from './scenario.js';
import type { World } from './world.js';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../src/log.js';
import { cleanupLocksForWorker } from '../../src/recovery/cleanup-locks-for-worker.js';
import type { CurrentEpoch } from '../../src/recovery/current-epoch.js';
import { createCurrentEpoch } from '../../src/recovery/current-epoch.js';
import { findOrOpenEpoch } from '../../src/recovery/open-epoch.js';
import { inCurrentEpoch } from '../../src/recovery/in-current-epoch.js';
import { releaseStaleLocksForSelf } from '../../src/recovery/release-stale-locks-for-self.js';
import { defineTask } from '../../src/tasks/definition.js';
import { AdmissionLoop } from '../../src/worker/admission.js';
import { checkWorkerOptions } from '../../src/worker/worker-options.js';
import { stopInOrder, stopParts } from '../../src/worker/stop-in-order.js';
import { workerParts } from '../../src/worker/worker-parts.js';
import { handlerOf } from './handlers.js';
import { storePort, tablePort } from './ports.js';
import { jobName } from './rows.js';

/** A worker as in src/worker/worker.ts: its parts are made by the same function, and its loops are the real ones. */
export async function addWorkerProcess(
  world: World,
  name: string,
  { slots, serves = jobName }: Scenario['workers'][number],
): Promise<void> {
  const incarnation = await world.register(name, serves);
  await world.addProcess({ name, kind: 'worker', incarnation }, (process) => {
    const own = incarnationOf(process);
    const definitions = new Map([[serves, definitionFor(process, serves)]]);
    const beater: Beater = { kind: 'caller', beat: async () => 'beaten' };
    const options: WorkerOptions = { ...own, definitions, beater, name, concurrency: slots };
    const heartbeat = heartbeatOf(process);
    const parts = workerParts(own, heartbeat, options, checkWorkerOptions(options));
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
      process.effects.push({ what: 'stops' });
    });
    // Admission is another process's here; what is due for a retry, it finds by itself.
    void parts.admission.stop();
    for (const part of [parts.finishing, parts.releasing, parts.givingBack, parts.claiming]) part.start();
  });
}

export async function addAdmitter(world: World, name: string): Promise<void> {
  // Of whom it admits for, the one that asks for locks is one too.
  const requester = world.processes.find(({ kind }) => kind === 'api')?.incarnation ?? null;
  const offer = { queues: ['default'], names: [jobName], versions: {}, requester };
  // Where lanes are lost, nobody waits for long: the second look already takes out.
  const ttlMs = world.scenario.losesLane === true ? 1 : 15_000;
  await world.addProcess({ name, kind: 'admitter' }, (process) => {
    const own = incarnationOf(process);
    new AdmissionLoop(own, offer, ttlMs).start();
    // Whoever admits is a worker too, whose other parts find out that the table has another epoch.
    process.programs.set('look', async () => {
      await inCurrentEpoch(own, (epoch) => own.table.inspectHold(epoch, 't1'));
    });
  });
}

/** Whoever has seen a counter stand still for a TTL: it reaps that worker, and cleans up until nothing is left. */
export async function addSweeper(world: World, name: string): Promise<void> {
  const workers = world.processes.filter(({ kind }) => kind === 'worker' || kind === 'api');
  const owners = workers.map((dead): Owner => ({ name: dead.name, incarnation: dead.incarnation }));
  await world.addProcess({ name, kind: 'sweeper' }, (process) => {
    const recovery = incarnationOf(process);
    for (const owner of owners) {
      process.programs.set(`sweep ${owner.name}`, async () => {
        const counter = (await process.send('world', 'counterOf', [owner.incarnation])) as string;
        if ((await recovery.store.reapWorker(owner.incarnation, counter)) === 'alive') return;
        while (!(await cleanupLocksForWorker(recovery, owner))) await delay(1_000);
      });
    }
  });
}

/** The next incarnation of a worker that is provably dead, when it starts: it does not wait for a TTL. */
export async function addHeir(world: World, name: string): Promise<void> {
  await world.addProcess({ name: `heir of ${name}`, kind: 'sweeper' }, (process) => {
    const recovery = incarnationOf(process);
    const isDead = async (): Promise<boolean> =>
      (await process.send('world', 'hasCrashed', [name])) as boolean;
    process.programs.set(`sweep ${name}`, async () => {
      const self = { name, incarnation: '1000' };
      while (!(await releaseStaleLocksForSelf(recovery, self, isDead))) await delay(1_000);
    });
  });
}

export async function addClient(world: World, what: string): Promise<void> {
  const [, task = ''] = what.split(' ');
  await world.addProcess({ name: what, kind: 'client' }, async (process) => {
    const store = storePort(process);
    if (what.startsWith('cancel')) await store.cancelTask(task);
    if (what.startsWith('pause')) await store.pauseQueue('default');
    if (what.endsWith('resume')) await store.resumeQueue('default');
  });
}

export function incarnationOf(process: LocalProcess): Incarnation {
  const store = storePort(process);
  const table = tablePort(process);
  const log = silentLogger;
  return {
    owner: { name: process.name, incarnation: process.incarnation },
    ...{ store, table, log },
    epoch: epochOf(process, () => findOrOpenEpoch({ store, table, log })),
    mayAct: () => process.mayAct,
    isFenced: () => process.status === 'fenced',
    fence: () => process.fence(),
  };
}

function epochOf(process: LocalProcess, find: () => Promise<string>): CurrentEpoch {
  const epoch = createCurrentEpoch(find);
  const refused = (old: string): void => {
    if (process.epoch === old) process.epoch = null;
    epoch.refused(old);
  };
  return {
    get: async () => {
      return (process.epoch = await epoch.get());
    },
    refused,
    onRefused: (old, listener) => epoch.onRefused(old, listener),
  };
}

export function heartbeatOf(process: LocalProcess): Heartbeat {
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

export function definitionFor(process: LocalProcess, name: string): TaskDefinition {
  return defineTask({
    name,
    run: (_payload, { task, signal }) => handlerOf(process, 'run', task, signal),
    rollback: (_payload, { task, signal }) => handlerOf(process, 'rollback', task, signal),
  });
}

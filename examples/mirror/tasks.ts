import type { TaskDefinition } from 'holdfast';
import type { GarbageResult } from './collect-garbage.js';
import type { PublishResult } from './publish-index.js';
import type { SyncResult } from './sync-package.js';
import { defineTask } from 'holdfast';
import { z } from 'zod';
import { collectGarbage } from './collect-garbage.js';
import { journaled } from './journal.js';
import { layoutOf } from './layout.js';
import { publishIndex } from './publish-index.js';
import { syncPackage } from './sync-package.js';

export interface SyncPayload {
  /** The mirror's folder, absolute: the workers may run elsewhere. */
  mirror: string;
  package: string;
}

export interface GarbagePayload {
  mirror: string;
}

export interface PublishPayload {
  mirror: string;
  packages: string[];
}

/** All three can be run again after dying anywhere, so a lost worker costs no attempt. */
const policies = { maxAttempts: 3, onWorkerLost: 'retry', timeout: '1m' } as const;

/** One sync of a package at a time; any number of packages beside each other; never beside `store.gc`. */
export const sync: TaskDefinition<SyncPayload, SyncPayload, SyncResult> = defineTask({
  name: 'package.sync',
  payload: z.object({ mirror: z.string(), package: z.string() }),
  resources: (payload) => ({ exclusive: [`package:${payload.package}`], shared: ['store'] }),
  ...policies,
  async run(payload, context) {
    const layout = layoutOf(payload.mirror);
    return await journaled(layout, context, () => syncPackage(layout, payload.package, context.signal));
  },
});

/** Alone on the store: it removes what no manifest names. */
export const gc: TaskDefinition<GarbagePayload, GarbagePayload, GarbageResult> = defineTask({
  name: 'store.gc',
  payload: z.object({ mirror: z.string() }),
  resources: () => ({ exclusive: ['store'] }),
  ...policies,
  async run(payload, context) {
    const layout = layoutOf(payload.mirror);
    return await journaled(layout, context, () => collectGarbage(layout, context.signal));
  },
});

/** One index at a time, while no package in it changes. */
export const publish: TaskDefinition<PublishPayload, PublishPayload, PublishResult> = defineTask({
  name: 'index.publish',
  payload: z.object({ mirror: z.string(), packages: z.array(z.string()) }),
  resources: ({ packages }) => ({
    exclusive: ['index'],
    shared: packages.map((name) => `package:${name}`),
  }),
  ...policies,
  async run(payload, context) {
    const layout = layoutOf(payload.mirror);
    return await journaled(layout, context, () => publishIndex(layout, payload.packages));
  },
});

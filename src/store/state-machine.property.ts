import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Finish } from './finish.js';
import type { Policies, Store } from './store.js';
import fc from 'fast-check';
import { v7 } from 'uuid';
import {
  claimOf,
  insertOne,
  mustGet,
  openEpoch,
  register,
  somePolicies,
  settleLost,
} from '../../test/store/rows.js';
import * as model from '../../test/store/task-model.js';

const policies: (Policies | null)[] = [
  null,
  { ...somePolicies, maxAttempts: 2, maxCrashes: 2 },
  { ...somePolicies, maxAttempts: 1, onWorkerLost: 'retry' },
  { ...somePolicies, onWorkerLost: 'fail' },
  // No roll-back may run at all: whatever nobody has claimed is over.
  { ...somePolicies, maxAttempts: 2, maxCrashes: 2, rollbackTimeoutMs: 0 },
  { ...somePolicies, onWorkerLost: 'retry', rollbackTimeoutMs: 0 },
];

type Kind =
  | 'claim'
  | 'claim of another epoch'
  | 'completed'
  | 'failed'
  | 'retry'
  | 'give back'
  | 'readmit'
  | 'mark'
  | 'cancel'
  | 'retry by hand'
  | 'pause'
  | 'resume'
  | 'say stopped'
  | 'reap'
  | 'settle'
  | 'settle hold'
  | 'clear take-out'
  | 'clear stale take-out'
  | 'progress'
  | 'rolled back'
  | 'roll-back failed'
  | 'end unclaimed';

interface Step {
  kind: Kind;
  task: number;
  worker: number;
  /** Of the task's entry: mostly the right one. */
  entryOffset: number;
  /** Whether the handler had begun when the attempt ended. */
  begun: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant<Kind>('claim') },
    {
      weight: 10,
      arbitrary: fc.constantFrom<Kind>(
        ...([
          'claim of another epoch',
          'completed',
          'failed',
          'retry',
          'give back',
          'readmit',
          'mark',
          'cancel',
          'retry by hand',
          'pause',
          'resume',
        ] as const),
        ...(['say stopped', 'reap', 'settle', 'settle', 'settle hold', 'progress'] as const),
        ...(['clear take-out', 'clear stale take-out'] as const),
        ...(['rolled back', 'roll-back failed', 'end unclaimed'] as const),
      ),
    },
  ),
  task: fc.nat({ max: 1 }),
  worker: fc.nat({ max: 1 }),
  entryOffset: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1)),
  begun: fc.boolean(),
});

/** Whatever is called in whatever order: the store answers and keeps what the model of the state machine does. */
export function stateMachineProperty(open: () => Promise<OpenStore>): void {
  describe('the state machine', () => {
    let opened: OpenStore;
    let epoch: string;
    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    test('is the one of the model', async () => {
      const { store } = opened;
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 30 }),
          fc.tuple(fc.constantFrom(...policies), fc.constantFrom(...policies)),
          async (steps, given) => {
            const queue = v7();
            const ids = [
              (await insertOne(store, { queue, policies: given[0] })).id,
              (await insertOne(store, { queue, policies: given[1] })).id,
            ];
            const workers = [await register(store), await register(store)];
            const expected: model.Model = {
              tasks: given.map(model.modelTask),
              ...{ reaped: new Set(), stopped: new Set() },
              paused: false,
            };
            for (const one of steps) {
              const at = { ids, workers, epoch, queue };
              expect(await ask(store, one, at, expected), one.kind).toEqual(foresee(one, at, expected));
              for (const [index, id] of ids.entries()) {
                const { admittedEpoch, takeOut, ...task } = expected.tasks[index] as model.ModelTask;
                expect(model.modelled(await mustGet(store, id)), one.kind).toEqual(task);
                const [marks] = await store.auditedTasks([id]);
                expect(marks, one.kind).toMatchObject({ admittedEpoch, takeOut });
              }
              await replaceReaped(store, workers, expected);
            }
          },
        ),
        { numRuns: opened.database.kind === 'postgres' ? 60 : 20, interruptAfterTimeLimit: 20_000 },
      );
    }, 60_000);
  });
}

interface At {
  ids: string[];
  workers: string[];
  epoch: string;
  queue: string;
}

/** A reaped worker stays in half of the steps, so that its late calls are tried too. */
async function replaceReaped(store: Store, workers: string[], expected: model.Model): Promise<void> {
  for (const [index, worker] of workers.entries()) {
    const free = expected.tasks.every((task) => task.worker !== worker);
    if (expected.reaped.has(worker) && free) workers[index] = await register(store);
  }
}

function entryOf({ task, entryOffset }: Step, { tasks }: model.Model): number {
  return Math.max(1, (tasks[task] as model.ModelTask).entry + entryOffset);
}

async function ask(
  store: Store,
  one: Step,
  { ids, workers, epoch, queue }: At,
  expected: model.Model,
): Promise<unknown> {
  const entry = entryOf(one, expected);
  const [task = '', worker = ''] = [ids[one.task], workers[one.worker]];
  const error = { code: 'Boom', message: 'boom' };
  const rollBack = one.begun;
  switch (one.kind) {
    case 'claim':
    case 'claim of another epoch': {
      const inEpoch = one.kind === 'claim' ? epoch : String(BigInt(epoch) - 1n);
      const claims = [claimOf(task, entry)];
      const outcome = await store.claimTasks({ worker, epoch: inEpoch, claims });
      if (outcome.status !== 'claimed') return outcome.status;
      const [refused] = outcome.refused;
      return refused === undefined ? 'claimed' : refused.runsHere ? 'runs-here' : 'refused';
    }
    case 'completed':
      return finished(store, worker, { task, entry, state: 'completed', result: 1, rollBack });
    case 'failed':
      return finished(store, worker, { task, entry, state: 'failed', error, rollBack });
    case 'retry':
      return finished(store, worker, { task, entry, state: 'retry', error, delayMs: 0, rollBack });
    case 'rolled back':
      return finished(store, worker, { task, entry, state: 'rolled-back' });
    case 'roll-back failed':
      return finished(store, worker, { task, entry, state: 'rollback-failed', error });
    case 'end unclaimed':
      // Those of earlier runs are ended as well.
      await store.admissionPass((admission) => admission.endUnclaimedRollbacks(1_000));
      return 'ended';
    case 'give back':
      return (await store.giveBackTasks(worker, [{ task, entry, rollBack }]))[0]?.nextEntry;
    case 'readmit': {
      const resources = { exclusive: ['other'], shared: [] };
      const readmitted = await store.readmitWithResources(worker, { task, entry, ...resources });
      return readmitted === 'refused' ? 'refused' : readmitted.nextEntry;
    }
    case 'mark': {
      const pass = await store.admissionPass((admission) => admission.markAdmitted(epoch, [{ task, entry }]));
      const [refused] = pass === 'busy-elsewhere' ? [] : pass;
      return refused === undefined ? 'marked' : refused.runs ? 'runs' : 'refused';
    }
    case 'cancel':
      return store.cancelTask(task);
    case 'retry by hand':
      return store.retryTask(task);
    case 'pause':
      return store.pauseQueue(queue);
    case 'resume':
      return store.resumeQueue(queue);
    case 'say stopped':
      return store.sayStopped(worker);
    case 'reap':
      return store.reapWorker(worker);
    case 'settle': {
      const settled = await settleLost(store, worker, { task, entry });
      return settled.outcome === 'given-back' ? settled.nextEntry : settled.outcome;
    }
    case 'settle hold': {
      const settled = await store.settleLostHolds(worker, [{ task, entry }]);
      return settled === 'refused' ? settled : settled[0];
    }
    case 'clear take-out':
      await store.admissionPass((admission) => admission.clearTakeOuts([{ task, entry }]));
      return 'cleared';
    case 'clear stale take-out':
      await store.admissionPass((admission) => admission.clearTakeOuts([], [{ task, entry }]));
      return 'cleared';
    case 'progress':
  }
  await store.writeProgress(worker, [{ task, entry, progress: [1] }]);
  return 'written';
}

async function finished(store: Store, worker: string, finish: Finish): Promise<unknown> {
  return (await store.finishTasks(worker, [finish]))[0]?.outcome;
}

function foresee(one: Step, { workers, epoch }: At, expected: model.Model): unknown {
  const entry = entryOf(one, expected);
  const task = expected.tasks[one.task] as model.ModelTask;
  const worker = workers[one.worker] ?? '';
  switch (one.kind) {
    case 'claim':
      return model.claim(expected, task, worker, entry);
    case 'claim of another epoch':
      return 'epoch';
    case 'completed':
    case 'failed':
    case 'retry':
      return model.finish(expected, task, worker, entry, one.kind, one.begun);
    case 'rolled back':
    case 'roll-back failed':
      return model.finishRollback(expected, task, worker, entry);
    case 'end unclaimed':
      model.endUnclaimed(expected.tasks);
      return 'ended';
    case 'give back':
      return model.giveBack(expected, task, worker, entry, one.begun);
    case 'readmit':
      return model.readmit(expected, task, worker, entry);
    case 'mark':
      return model.mark(task, entry, epoch);
    case 'cancel':
      return model.cancel(task);
    case 'retry by hand':
      return model.retryByHand(task);
    case 'pause':
      return model.pause(expected);
    case 'resume':
      expected.paused = false;
      return undefined;
    case 'say stopped':
      if (!expected.reaped.has(worker)) expected.stopped.add(worker);
      return undefined;
    case 'reap': {
      const already = expected.reaped.has(worker);
      expected.reaped.add(worker);
      return already ? 'already' : 'reaped';
    }
    case 'settle':
      return model.settle(expected, task, worker, entry);
    case 'settle hold':
      return model.settleHold(expected, task, worker, entry);
    case 'clear take-out':
    case 'clear stale take-out':
      model.clearTakeOut(expected, task, entry, one.kind === 'clear stale take-out');
      return 'cleared';
    case 'progress':
  }
  return 'written';
}

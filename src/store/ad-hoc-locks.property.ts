import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { LockRequest } from './store.js';
import fc from 'fast-check';
import { claimOf, insertOf, openEpoch, register, requestOf, settleLost } from '../../test/store/rows.js';

const kinds = [
  ...([
    'request',
    'request',
    'hold',
    'hold',
    'claim',
    'claim',
    'discard',
    'take out',
    'pass numbers',
  ] as const),
  ...(['give back', 'finish', 'cancel', 'reap', 'settle', 'settle all', 'remove'] as const),
];

interface Step {
  kind: (typeof kinds)[number];
  /** Of two. */
  worker: number;
  /** Late: with a number that was drawn long before. */
  late: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  worker: fc.nat({ max: 1 }),
  late: fc.boolean(),
});

/** One lock, by its id, and the two who may want it: what the store must make of it. */
interface Model {
  state: 'none' | 'waiting' | 'running' | 'canceled';
  requester: string | null;
  reaped: Set<string>;
  /** The lowest number that each may use. */
  from: Map<string, number>;
}

/** Whatever is called in whatever order: a lock is its requester's, and of a refused or late call nothing is there. */
export function adHocLocksProperty(open: () => Promise<OpenStore>): void {
  describe('the life of an ad-hoc lock', () => {
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
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
          const workers = [await register(store, { kind: 'api' }), await register(store, { kind: 'api' })];
          const request = requestOf(workers[0] ?? '');
          const model: Model = { state: 'none', requester: null, reaped: new Set(), from: new Map() };
          const requester = (): string | null => workers.find((worker) => holds(model, worker)) ?? null;
          const at: At = { opened, epoch, request, firstNumber: request.number, requester };
          for (const one of steps) {
            const worker = workers[one.worker] ?? '';
            const number = one.late ? at.firstNumber : insertOf(worker, epoch).number;
            const answer = await ask(at, one, worker, number);
            expect(answer, one.kind).toEqual(foresee(model, one, worker, number));
            const row = await store.getTask(at.request.lock.id);
            expect(row?.state ?? 'none', one.kind).toBe(model.state);
          }
          for (const worker of workers) {
            await store.reapWorker(worker);
            await store.settleLostLocks(worker);
          }
          await takeOut(at);
        }),
        { numRuns: opened.database.kind === 'postgres' ? 60 : 20, interruptAfterTimeLimit: 20_000 },
      );
    }, 60_000);
  });
}

interface At {
  opened: OpenStore;
  epoch: string;
  request: LockRequest;
  firstNumber: number;
  /** Whose it is now, waiting or held. */
  requester(): string | null;
}

async function takeOut({ opened, request }: At): Promise<void> {
  await opened.store.admissionPass((admission) =>
    admission.clearTakeOuts([{ task: request.lock.id, entry: 1 }]),
  );
}

async function ask(at: At, { kind }: Step, worker: string, number: number): Promise<unknown> {
  const { store } = at.opened;
  const { lock } = at.request;
  const hold = { task: lock.id, entry: 1 };
  switch (kind) {
    case 'request':
      return store.requestLock({ requester: worker, number, lock }).catch(() => 'there');
    case 'hold': {
      const insert = insertOf(worker, at.epoch, { ...lock, lock: true });
      return store.insertRunning({ ...insert, number }).then(
        ({ status }) => status,
        () => 'there',
      );
    }
    case 'claim': {
      const claims = [claimOf(lock.id)];
      const outcome = await store.claimTasks({ worker, epoch: at.epoch, claims });
      if (outcome.status !== 'claimed') return outcome.status;
      return outcome.claimed.length === 1 ? 'claimed' : 'refused';
    }
    case 'discard':
      return store.discardTasks(worker, [lock.id]);
    case 'take out':
      return takeOut(at);
    case 'pass numbers':
      return store.voidInserts(worker, number);
    case 'give back':
      return (await store.giveBackTasks(worker, [hold]))[0]?.nextEntry;
    case 'finish':
      return store.finishTasks(worker, [{ ...hold, state: 'completed', result: 1 }]).then(
        (outcomes) => outcomes[0]?.outcome,
        () => 'refused',
      );
    case 'cancel':
      return store.cancelTask(lock.id);
    case 'reap':
      return store.reapWorker(worker);
    case 'settle':
      return (await settleLost(store, worker, hold)).outcome;
    case 'settle all':
      return store.settleLostLocks(worker);
    case 'remove':
  }
  // Asked only of one that has it: others would be gone, and could not be asked again.
  return at.requester() === worker ? store.removeWorker(worker) : 'not asked';
}

function foresee(model: Model, { kind }: Step, worker: string, number: number): unknown {
  const reaped = model.reaped.has(worker);
  const mine = model.requester === worker;
  const become = (state: Model['state']): void => {
    model.state = state;
    if (state === 'none') model.requester = null;
  };
  const insert = (state: 'waiting' | 'running', answer: string): string => {
    if (reaped) return 'reaped';
    if (number < (model.from.get(worker) ?? 1)) return 'void';
    if (model.state !== 'none') return 'there';
    Object.assign(model, { state, requester: worker });
    return answer;
  };
  switch (kind) {
    case 'request':
      return insert('waiting', 'requested');
    case 'hold':
      return insert('running', 'running');
    case 'claim':
      if (reaped) return 'reaped';
      if (!mine || model.state !== 'waiting') return 'refused';
      become('running');
      return 'claimed';
    case 'discard':
      if (reaped) return 'reaped';
      if (mine && model.state === 'running') become('none');
      else if (mine && model.state === 'waiting') become('canceled');
      return 'discarded';
    case 'take out':
      if (model.state === 'canceled') become('none');
      return undefined;
    case 'pass numbers':
      if (reaped) return 'reaped';
      model.from.set(worker, Math.max(model.from.get(worker) ?? 1, number + 1));
      return 'void';
    case 'give back':
    case 'finish':
      return 'refused';
    case 'cancel':
      return model.state === 'none' ? null : { before: model.state, after: model.state };
    case 'reap':
      model.reaped.add(worker);
      return reaped ? 'already' : 'reaped';
    case 'settle':
      if (!reaped || !mine || model.state !== 'running') return 'refused';
      become('none');
      return 'settled';
    case 'settle all':
      return settleAll(model, worker, become);
    case 'remove':
  }
  return holds(model, worker) ? 'running' : 'not asked';
}

function holds(model: Model, worker: string): boolean {
  return model.requester === worker && ['waiting', 'running'].includes(model.state);
}

function settleAll(model: Model, worker: string, become: (state: Model['state']) => void): unknown {
  if (!model.reaped.has(worker)) return 'refused';
  if (model.requester !== worker) return [];
  const ran = model.state === 'running';
  if (ran) become('none');
  else if (model.state === 'waiting') become('canceled');
  return ran ? [expect.any(String)] : [];
}

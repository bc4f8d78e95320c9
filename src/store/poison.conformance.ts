import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import type { Policies } from './store.js';
import {
  claimOne,
  insertOne,
  mustGet,
  openEpoch,
  register,
  somePolicies,
  settleLost,
} from '../../test/store/rows.js';

const cells = [1, 2, 4].flatMap((maxAttempts) =>
  [1, 3].flatMap((maxCrashes) =>
    ([null, 'retry', 'fail'] as const).map((onWorkerLost) => ({ maxAttempts, maxCrashes, onWorkerLost })),
  ),
);

/** How often a task runs that kills each worker which runs it, and whether it is set aside as such. */
function fateOf({ maxAttempts, maxCrashes, onWorkerLost }: Cell): { runs: number; crashed: boolean } {
  const attempts = onWorkerLost === null ? maxAttempts : { retry: Infinity, fail: 1 }[onWorkerLost];
  return { runs: Math.min(attempts, maxCrashes), crashed: maxCrashes <= attempts };
}

type Cell = Pick<Policies, 'maxAttempts' | 'maxCrashes' | 'onWorkerLost'>;

/** Tasks that kill their workers: each ends, whatever its policies. */
export function poisonConformance(open: () => Promise<OpenStore>): void {
  describe('a task that kills its workers', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
      await openEpoch(opened.store);
    });
    afterAll(() => opened?.close());

    /** Runs it on one worker after the other, each of which is lost. */
    async function loseAll(id: string): Promise<number> {
      for (let runs = 1; ; runs += 1) {
        const { store } = opened;
        const { entry } = await mustGet(store, id);
        const worker = await register(store);
        await claimOne(store, worker, { task: id, entry });
        await store.reapWorker(worker);
        await settleLost(store, worker, { task: id, entry });
        if ((await mustGet(store, id)).state !== 'waiting') return runs;
      }
    }

    test.each(cells)(
      'ends with maxAttempts $maxAttempts, maxCrashes $maxCrashes and onWorkerLost $onWorkerLost',
      async (cell) => {
        const { id } = await insertOne(opened.store, { policies: { ...somePolicies, ...cell } });
        const { runs, crashed } = fateOf(cell);
        expect(await loseAll(id)).toBe(runs);
        const { state, crashes, error } = await mustGet(opened.store, id);
        expect({ state, crashes, code: error?.code }).toEqual({
          state: 'failed',
          crashes: runs,
          code: 'WorkerLost',
        });
        expect(error?.reason).toBe(crashed ? 'crashed' : undefined);
      },
    );

    test('can be canceled while it waits for its next worker', async () => {
      const policies: Policies = { ...somePolicies, onWorkerLost: 'retry', maxCrashes: 9 };
      const { id } = await insertOne(opened.store, { policies });
      const worker = await register(opened.store);
      await claimOne(opened.store, worker, { task: id, entry: 1 });
      await opened.store.reapWorker(worker);
      await settleLost(opened.store, worker, { task: id, entry: 1 });
      expect(await opened.store.cancelTask(id)).toEqual({ before: 'waiting', after: 'canceled' });
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import {
  claimOf,
  insertOf,
  insertOne,
  mustGet,
  openEpoch,
  register,
  runningTask,
  settleLost,
  somePolicies,
} from '../../test/store/rows.js';

/** What another timeline of the server, or another start of it, says about epochs and workers. */
export function timelinesConformance(open: () => Promise<OpenStore>): void {
  describe('a server on another timeline, or started again', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    const change = async (what: string): Promise<void> => {
      await opened.database.query(`UPDATE ${opened.namespace}.${what}`);
    };

    test('refuses the epoch of the one before to claims and inserts, until one is committed on it', async () => {
      const { store } = opened;
      const epoch = await openEpoch(store, 's1');
      const worker = await register(store);
      const { id } = await insertOne(store);
      await change(`namespace SET timeline = 'before'`);
      expect(await store.readNamespace()).toMatchObject({ epoch: null, identity: null });
      const claim = { worker, epoch, claims: [claimOf(id)] };
      expect(await store.claimTasks(claim)).toEqual({ status: 'epoch' });
      expect(await store.insertRunning(insertOf(worker, epoch))).toEqual({ status: 'epoch' });
      const next = await openEpoch(store, 's1');
      expect(BigInt(next)).toBeGreaterThan(BigInt(epoch));
      expect(await store.readNamespace()).toMatchObject({ epoch: next, identity: 's1' });
      expect(await store.claimTasks({ ...claim, epoch: next })).toMatchObject({ status: 'claimed' });
    });

    test('takes no beat of a worker that registered on the one before, but its last word', async () => {
      const { store } = opened;
      const worker = await register(store);
      expect(await store.beat(worker)).toBe('beaten');
      await change(`workers SET timeline = 'before' WHERE incarnation = ${worker}`);
      expect(await store.beat(worker)).toBe('reaped');
      await store.sayStopped(worker);
      const { rows } = await opened.database.query(
        `SELECT stopped_itself AS said, reaped FROM ${opened.namespace}.workers WHERE incarnation = $1`,
        [worker],
      );
      expect(rows).toEqual([{ said: true, reaped: false }]);
    });

    test.each([
      ['another timeline', 'redis', `timeline = 'before'`, 0],
      ['a start since its last beat', 'redis', `server_start = '2000-01-01'`, 0],
      [
        'a start since its last beat, together with its lock table',
        'memory',
        `server_start = '2000-01-01'`,
        1,
      ],
      ['the same', 'redis', 'pid = pid', 1],
    ])('on %s, with the table in %s, a lost worker has crashed or not', async (_, kind, what, crashes) => {
      const { store } = opened;
      await change(`namespace SET table_kind = '${kind}', table_address = 'a'`);
      const policies = { ...somePolicies, maxAttempts: 5 };
      const { id, worker } = await runningTask(store, { policies });
      await store.beat(worker);
      await change(`workers SET ${what} WHERE incarnation = ${worker}`);
      await store.reapWorker(worker);
      await settleLost(store, worker, { task: id, entry: 1 });
      expect(await mustGet(store, id)).toMatchObject({
        state: 'waiting',
        entry: 2,
        crashes,
        attempt: crashes,
      });
    });
  });
}

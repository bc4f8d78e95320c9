import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenStore } from '../../test/store/open-store.js';
import { openEpoch, runningTask } from '../../test/store/rows.js';

/** The namespace row, the lock table's record and rebuilds. */
export function epochsConformance(open: () => Promise<OpenStore>): void {
  describe('the namespace and its epochs', () => {
    let opened: OpenStore;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    test('a new namespace has neither epoch nor lock table', async () => {
      const empty = { epoch: null, identity: null, tableKind: null, tableAddress: null };
      expect(await opened.store.readNamespace()).toEqual(empty);
    });

    test('the first lock table is recorded, the same one accepted, another one refused', async () => {
      const { store } = opened;
      await store.checkLockTable({ kind: 'redis', address: 'mistyped' });
      await store.claimLockTable({ kind: 'redis', address: 'a:6379' });
      await store.claimLockTable({ kind: 'redis', address: 'a:6379' });
      const other = store.claimLockTable({ kind: 'redis', address: 'b:6379' });
      await expect(other).rejects.toMatchObject({ code: 'WrongTable' });
      const memory = store.claimLockTable({ kind: 'memory', address: 'a:6379' });
      await expect(memory).rejects.toMatchObject({ code: 'WrongTable' });
      expect(await store.readNamespace()).toMatchObject({ tableKind: 'redis', tableAddress: 'a:6379' });
      await store.checkLockTable({ kind: 'redis', address: 'a:6379' });
      const checked = store.checkLockTable({ kind: 'redis', address: 'b:6379' });
      await expect(checked).rejects.toMatchObject({ code: 'WrongTable' });
    });

    test('drawn epochs exceed each other, the committed one and any that was seen', async () => {
      const { store } = opened;
      const first = await openEpoch(store, 's1');
      expect(await store.readNamespace()).toMatchObject({ epoch: first, identity: 's1' });
      const seen = String(BigInt(first) + 1_000n);
      const drawn = await store.rebuild(async (rebuild) => {
        expect(rebuild.namespace.epoch).toBe(first);
        return [await rebuild.drawEpoch(null), await rebuild.drawEpoch(seen), await rebuild.drawEpoch(seen)];
      });
      const [second = '', third = '', fourth = ''] = drawn;
      expect(BigInt(second)).toBeGreaterThan(BigInt(first));
      expect(BigInt(third)).toBeGreaterThan(BigInt(seen));
      expect(BigInt(fourth)).toBeGreaterThan(BigInt(third));
      expect(await store.readNamespace()).toMatchObject({ epoch: first });
      expect(BigInt(await openEpoch(store))).toBeGreaterThan(BigInt(fourth));
    });

    test('a rebuild that throws commits nothing, and its number is not drawn again', async () => {
      const { store } = opened;
      const before = await store.readNamespace();
      let drawn = '';
      const failing = store.rebuild(async (rebuild) => {
        drawn = await rebuild.drawEpoch(null);
        await rebuild.commitEpoch({ epoch: drawn, identity: 'never' });
        throw new Error('died');
      });
      await expect(failing).rejects.toThrow('died');
      expect(await store.readNamespace()).toEqual(before);
      expect(BigInt(await openEpoch(store))).toBeGreaterThan(BigInt(drawn));
    });

    test('running tasks come in order of id, with what their holds need, by pages', async () => {
      const { store } = opened;
      const running = [await runningTask(store), await runningTask(store), await runningTask(store)];
      const [done] = running.splice(1, 1);
      await store.finishTasks(done?.worker ?? '', [
        { task: done?.id ?? '', entry: 1, state: 'completed', result: null },
      ]);
      const pages = await store.rebuild(async (rebuild) => {
        const first = await rebuild.runningLike({ after: null, limit: 1 });
        const second = await rebuild.runningLike({ after: first[0]?.id ?? null, limit: 10 });
        const third = await rebuild.runningLike({ after: second.at(-1)?.id ?? null, limit: 10 });
        return [first, second, third];
      });
      expect(pages.map((page) => page.length)).toEqual([1, 1, 0]);
      const sorted = running.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(pages.flat()).toEqual(
        sorted.map(({ id, worker, row }) => ({
          ...{ id, entry: 1, lane: row.lane, priority: 0, place: row.place, fence: row.fence },
          ...{ exclusive: ['repo:7'], shared: ['store'], owner: { name: 'w1', incarnation: worker } },
        })),
      );
    });
  });
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import type { OpenStore } from '../../test/store/open-store.js';
import { claimOne, insertOne, insertOf, mustGet, openEpoch, register } from '../../test/store/rows.js';

/** What an audit asks for and writes. */
export function auditingConformance(open: () => Promise<OpenStore>): void {
  describe('auditing', () => {
    let opened: OpenStore;
    let epoch: string;
    let worker: string;

    beforeAll(async () => {
      opened = await open();
      epoch = await openEpoch(opened.store);
      worker = await register(opened.store);
    });
    afterAll(() => opened?.close());

    test('unsettled tasks come in order of id, page by page; settled ones when they are named', async () => {
      const { store } = opened;
      const ids: string[] = [];
      for (let nth = 0; nth < 5; nth += 1) ids.push((await insertOne(store)).id);
      const [first = '', second = '', third = ''] = ids;
      await claimOne(store, worker, { task: second, entry: 1 });
      await claimOne(store, worker, { task: third, entry: 1 });
      await store.finishTasks(worker, [{ task: third, entry: 1, state: 'completed', result: 1 }]);
      const page = await store.unsettledTasks({ after: null, limit: 3 });
      expect(page.map(({ id }) => id)).toEqual([first, second, ids[3]]);
      const rest = await store.unsettledTasks({ after: page.at(-1)?.id ?? null, limit: 3 });
      expect(rest.map(({ id }) => id)).toEqual([ids[4]]);
      const named = await store.auditedTasks([third, second, v7(), 'no id']);
      expect(new Map(named.map((row) => [row.id, row])).get(second)).toEqual({
        ...{ id: second, state: 'running', entry: 1, worker, due: true, admittedEpoch: '0', takeOut: null },
        ...{ exclusive: ['repo:7'], shared: ['store'] },
      });
      expect(named).toHaveLength(2);
    });

    test('only what waits with that entry, admitted in that epoch, is admitted anew', async () => {
      const { store } = opened;
      const { id } = await insertOne(store);
      const task = { task: id, entry: 1 };
      expect(await store.readmitTasks(epoch, [task])).toBe(0);
      await store.admissionPass((admission) => admission.markAdmitted(epoch, [task]));
      const refused = [{ ...task, entry: 2 }];
      expect(await store.readmitTasks(epoch, refused)).toBe(0);
      expect(await store.readmitTasks('999', [task])).toBe(0);
      expect(await store.readmitTasks(epoch, [task])).toBe(1);
      expect((await store.auditedTasks([id]))[0]?.admittedEpoch).toBe('0');
    });

    test('a task that never came is made impossible; one that is there stays as it is', async () => {
      const { store } = opened;
      const late = insertOf(worker, epoch);
      const { id } = late.task;
      expect(await store.voidTask({ id, name: 'a', queue: 'q' })).toBe(true);
      expect(await mustGet(store, id)).toMatchObject({ state: 'canceled', name: 'a', queue: 'q' });
      await expect(store.insertRunning(late)).rejects.toThrow();
      const there = await insertOne(store);
      expect(await store.voidTask({ id: there.id, name: 'a', queue: 'q' })).toBe(false);
      expect(await mustGet(store, there.id)).toMatchObject({ state: 'waiting', name: there.name });
    });
  });
}

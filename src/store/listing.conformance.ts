import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TaskFilter } from './store.js';
import type { OpenStore } from '../../test/store/open-store.js';
import { claimOne, insertOne, openEpoch, register } from '../../test/store/rows.js';

/** Lists, filters and pages. */
export function listingConformance(open: () => Promise<OpenStore>): void {
  describe('listing tasks', () => {
    let opened: OpenStore;
    const ids: Record<string, string[]> = { waiting: [], running: [], completed: [] };

    beforeAll(async () => {
      opened = await open();
      const { store } = opened;
      await openEpoch(store);
      const worker = await register(store);
      for (let round = 0; round < 12; round += 1) {
        const name = round % 2 === 0 ? 'even' : 'odd';
        const state = ['waiting', 'running', 'completed'][round % 3] ?? '';
        const task = { task: (await insertOne(store, { name, payload: round })).id, entry: 1 };
        if (state !== 'waiting') await claimOne(store, worker, task);
        if (state === 'completed') await store.finishTasks(worker, [{ ...task, state, result: round }]);
        ids[state]?.unshift(task.task);
      }
    });
    afterAll(() => opened?.close());

    async function list(filter: Partial<TaskFilter>): Promise<string[]> {
      const rows = await opened.store.listTasks({ after: null, limit: 100, ...filter });
      return rows.map(({ id }) => id);
    }

    function newestFirst(...lists: (string[] | undefined)[]): string[] {
      return lists
        .flatMap((list) => list ?? [])
        .sort()
        .toReversed();
    }

    test('all tasks come newest first, without payloads and results', async () => {
      expect(await list({})).toEqual(newestFirst(ids.waiting, ids.running, ids.completed));
      const rows = await opened.store.listTasks({ after: null, limit: 100 });
      expect(new Set(rows.map(({ payload }) => payload))).toEqual(new Set([null]));
      expect(new Set(rows.map(({ result }) => result))).toEqual(new Set([null]));
      expect(rows[0]?.lane).toContain('"odd"');
    });

    test('states, a name, and both select', async () => {
      expect(await list({ states: ['waiting'] })).toEqual(ids.waiting);
      expect(await list({ states: ['completed', 'running', 'running'] })).toEqual(
        newestFirst(ids.completed, ids.running),
      );
      expect(await list({ states: [] })).toHaveLength(12);
      const even = await opened.store.listTasks({ name: 'even', after: null, limit: 100 });
      expect(even.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, () => 'even'));
      const evenWaiting = await list({ name: 'even', states: ['waiting'] });
      expect(evenWaiting).toEqual(ids.waiting?.filter((_, index) => index % 2 === 1));
      expect(await list({ name: 'nobody' })).toEqual([]);
    });

    test('pages follow each other without gap or repetition, under every filter', async () => {
      const filters: Partial<TaskFilter>[] = [{}, { states: ['waiting', 'running'] }, { name: 'odd' }];
      for (const filter of filters) {
        const paged: string[] = [];
        for (let after: string | null = null; ; after = paged.at(-1) ?? null) {
          const page = await list({ ...filter, after, limit: 2 });
          paged.push(...page);
          if (page.length < 2) break;
        }
        expect(paged).toEqual(await list(filter));
      }
    });

    test('a cursor that is no id is refused', async () => {
      await expect(list({ after: 'x' })).rejects.toMatchObject({ code: 'InvalidTask' });
    });

    test('resources in use are those of unsettled tasks, in byte order, by pages', async () => {
      const { store } = opened;
      const worker = await register(store);
      await insertOne(store, { exclusive: ['r:é', 'r:b'], shared: ['r:B', 'r:a'] });
      const settled = await insertOne(store, { exclusive: ['r:settled'], shared: [] });
      const task = { task: settled.id, entry: 1 };
      await claimOne(store, worker, task);
      await store.finishTasks(worker, [{ ...task, state: 'completed', result: null }]);
      const all = await store.resourcesInUse({ after: null, limit: 100 });
      expect(all).toEqual(['r:B', 'r:a', 'r:b', 'r:é', 'repo:7', 'store']);
      expect(await store.resourcesInUse({ after: 'r:a', limit: 2 })).toEqual(['r:b', 'r:é']);
    });
  });
}

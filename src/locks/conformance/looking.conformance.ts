import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, lane, type OpenTable } from './harness.conformance.js';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

export function describeLooking(open: OpenTable): void {
  describe('looking', () => {
    const current = freshTable(open);

    test('a lock shows its holders in order, its first waiters with positions, and how many wait', async () => {
      await current().enter(
        ...[
          hold('r2', { shared: ['a'] }),
          hold('r1', { shared: ['a'], entry: 3 }),
          hold('w1', { exclusive: ['a'] }),
        ],
        ...[hold('r3', { shared: ['a'] }), hold('w2', { exclusive: ['a'] })],
      );
      const [claimed] = await current().claim(ada, 1);
      const views = await current().table.inspectLocks(epoch, ['a', 'free', 'a'], 2);
      expect(views[0]).toEqual({
        resource: 'a',
        mode: 'shared',
        holders: [
          { task: 'r1', entry: 3, owner: null, fence: null, since: timestamp },
          { task: 'r2', entry: 1, owner: ada, fence: claimed?.fence, since: timestamp },
        ],
        waiting: [
          { task: 'w1', mode: 'exclusive', position: 1 },
          { task: 'r3', mode: 'shared', position: 2 },
        ],
        waitingCount: 3,
      });
      expect(views[1]).toEqual({ resource: 'free', mode: null, holders: [], waiting: [], waitingCount: 0 });
      expect(views[2]).toEqual(views[0]);
    });

    test('an exclusive lock shows its one holder; no waiters where none are asked for', async () => {
      await current().enter(hold('w1', { exclusive: ['a'] }), hold('w2', { exclusive: ['a'] }));
      const [view] = await current().table.inspectLocks(epoch, ['a'], 0);
      expect(view).toMatchObject({
        mode: 'exclusive',
        holders: [{ task: 'w1' }],
        waiting: [],
        waitingCount: 1,
      });
    });

    test('a lock with more than 1,000 holders shows 1,000 of them', async () => {
      await current().enter(
        ...Array.from({ length: 1_100 }, (_, index) => hold(`t${index}`, { shared: ['a'] })),
      );
      const [view] = await current().table.inspectLocks(epoch, ['a'], 0);
      expect(new Set(view?.holders.map(({ task }) => task)).size).toBe(1_000);
      expect(view?.holders).toHaveLength(1_000);
    });

    test('more locks than one call carries are shown in the order asked for', async () => {
      const names = Array.from({ length: 230 }, (_, index) => `r${index}`);
      const views = await current().table.inspectLocks(epoch, names, 1);
      expect(views.map(({ resource }) => resource)).toEqual(names);
    });

    test('a hold shows all that was entered, and times as they come', async () => {
      const given = { entry: 5, exclusive: ['b', 'c'], shared: ['a'], priority: -7, place: '42' };
      await current().enter(hold('t1', given));
      expect(await current().table.inspectHold(epoch, 't1')).toEqual({
        ...{ task: 't1', ...given, lane, status: 'granted', owner: null, fence: null, waitsFor: [] },
        ...{ enteredAt: timestamp, grantedAt: timestamp, ownedAt: null },
      });
      const [claimed] = await current().claim(ada);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({
        ...{ status: 'owned', owner: ada, fence: claimed?.fence, ownedAt: timestamp },
      });
      expect(await current().table.inspectHold(epoch, 't2')).toBeNull();
    });

    test('a queued hold shows what it waits for, with its place in each queue', async () => {
      await current().enter(
        ...[
          hold('t1', { exclusive: ['a'] }),
          hold('t2', { shared: ['c'] }),
          hold('t3', { exclusive: ['c'] }),
        ],
        hold('t4', { exclusive: ['a', 'b'], shared: ['c', 'd'] }),
      );
      expect(await current().table.inspectHold(epoch, 't4')).toMatchObject({
        status: 'queued',
        grantedAt: null,
        waitsFor: [
          { resource: 'a', mode: 'exclusive', position: 1 },
          { resource: 'c', mode: 'shared', position: 2 },
        ],
      });
    });

    test('the owner’s name is read back whole', async () => {
      const owner = { name: 'a:1:{*}', incarnation: '7' };
      await current().table.listOwner(epoch, owner);
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(owner);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({ owner });
      const [view] = await current().table.inspectLocks(epoch, ['a'], 0);
      expect(view?.holders[0]?.owner).toEqual(owner);
      await current().table.release(epoch, [{ task: 't1', entry: 1, owner: bob }]);
      expect(await current().statusOf('t1')).toBe('owned');
    });
  });
}

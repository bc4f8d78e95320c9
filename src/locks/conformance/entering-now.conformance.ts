import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, lane, type OpenTable } from './harness.conformance.js';

export function describeEnteringNow(open: OpenTable): void {
  describe('entering now or not at all', () => {
    const current = freshTable(open);

    test('what is free is owned at once, with a fence, in the registry', async () => {
      const answers = await current().table.enterNow(epoch, ada, [
        hold('t1', { exclusive: ['a'], shared: ['b'] }),
        hold('t2', { shared: ['b'] }),
      ]);
      expect(answers).toMatchObject([{ status: 'owned' }, { status: 'owned' }]);
      const registry = await current().table.readRegistry(epoch, ada, { after: null, limit: 9 });
      expect(registry.map(({ task, fence }) => ({ status: 'owned', task, fence }))).toEqual(
        (answers as { status: string; fence: string }[]).map((answer, index) => ({
          ...answer,
          task: `t${index + 1}`,
        })),
      );
      expect(await current().claimTasks(bob)).toEqual([]);
      await current().expectSound();
      expect(await current().release(ada, 't1', 't2')).toEqual(['released', 'released']);
      await current().expectSound();
    });

    test('blocked names the first resource that is not free, exclusive ones first; nothing is entered', async () => {
      await current().enter(hold('t1', { shared: ['b'], exclusive: ['c'] }));
      const before = await current().dump();
      const blocked = [
        hold('t2', { exclusive: ['a', 'b'], shared: ['c'] }),
        hold('t3', { shared: ['a', 'b', 'c'] }),
      ];
      expect(await current().table.enterNow(epoch, ada, blocked)).toEqual([
        { status: 'blocked', resource: 'b' },
        { status: 'blocked', resource: 'c' },
      ]);
      expect(await current().dump()).toEqual(before);
    });

    test('never past a queue: a reader is blocked by a waiting writer', async () => {
      await current().enter(hold('r1', { shared: ['a'] }), hold('w1', { exclusive: ['a'] }));
      expect(await current().table.enterNow(epoch, ada, [hold('r2', { shared: ['a'] })])).toEqual([
        { status: 'blocked', resource: 'a' },
      ]);
      await current().expectSound();
    });

    test('of one batch, each sees what those before it took', async () => {
      const batch = [hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }), hold('t1')];
      expect(await current().table.enterNow(epoch, ada, batch)).toMatchObject([
        { status: 'owned' },
        { status: 'blocked', resource: 'a' },
        { status: 'present' },
      ]);
      await current().expectSound();
    });

    test('any entry that is there is told, and is not made busy', async () => {
      await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }));
      const before = await current().dump();
      const others = [hold('t1', { entry: 1 }), hold('t1', { entry: 2 }), hold('t1', { entry: 3 })];
      expect(await current().table.enterNow(epoch, ada, others)).toEqual(
        others.map(() => ({ status: 'present' })),
      );
      expect(await current().dump()).toEqual(before);
    });

    test('an unlisted owner enters nothing', async () => {
      const before = await current().dump();
      const stranger = { name: 'ada', incarnation: '2' };
      expect(await current().table.enterNow(epoch, stranger, [hold('t1')])).toBe('unlisted');
      expect(await current().dump()).toEqual(before);
    });

    test('what comes later queues behind it', async () => {
      await current().table.enterNow(epoch, ada, [hold('t1', { exclusive: ['a'] })]);
      expect(await current().enter(hold('t2', { exclusive: ['a'] }))).toEqual(['queued']);
      await current().release(ada, 't1');
      expect(await current().claimTasks(bob, 9, [lane])).toEqual(['t2']);
      await current().expectSound();
    });
  });
}

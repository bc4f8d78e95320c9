import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

const readers = (count: number, resource: string) =>
  Array.from({ length: count }, (_, index) => hold(`${resource}${index}`, { shared: [resource] }));

export function describePromoting(open: OpenTable): void {
  describe('promoting within a budget of 2', () => {
    const current = freshTable(open, { promotionLimit: 2 });

    test('a release promotes as many as the budget allows and marks the rest', async () => {
      await current().enter(hold('w', { exclusive: ['a'] }), ...readers(5, 'a'));
      await current().claim(ada);
      await current().release(ada, 'w');
      expect(await current().statuses()).toEqual({
        ...{ a0: 'granted', a1: 'granted', a2: 'queued', a3: 'queued', a4: 'queued' },
      });
      expect((await current().dump()).marks).toEqual(['a']);
      await current().expectSound();
    });

    test('marks are continued, and what is left is told', async () => {
      await current().enter(hold('w', { exclusive: ['a'] }), ...readers(5, 'a'));
      await current().claim(ada);
      await current().release(ada, 'w');
      expect(await current().table.continuePromotions(epoch)).toBe(1);
      expect(await current().table.continuePromotions(epoch)).toBe(0);
      expect(Object.values(await current().statuses())).toEqual(Array(5).fill('granted'));
      expect(await current().table.continuePromotions(epoch)).toBe(0);
      await current().expectSound();
    });

    test('each claim continues marks, and may take what it promoted', async () => {
      await current().enter(hold('w', { exclusive: ['a'] }), ...readers(5, 'a'));
      await current().claim(ada);
      await current().release(ada, 'w');
      expect(await current().claimTasks(ada)).toEqual(['a0', 'a1', 'a2', 'a3']);
      expect(await current().claimTasks(bob)).toEqual(['a4']);
      expect((await current().dump()).marks).toEqual([]);
      await current().expectSound();
    });

    test('the budget is that of a call, whatever it releases; marks go in the order of bytes', async () => {
      const names = ['b', '\u{1f600}', '\uffee', 'a'];
      for (const name of names) {
        await current().enter(hold(`w${name}`, { exclusive: [name] }), ...readers(2, name));
      }
      await current().claim(ada);
      await current().release(ada, 'wb', 'w\u{1f600}', 'w\uffee', 'wa');
      expect((await current().dump()).marks).toEqual(['a', '\uffee', '\u{1f600}']);
      await current().expectSound();
      expect(await current().table.continuePromotions(epoch)).toBe(2);
      expect((await current().dump()).marks).toEqual(['\uffee', '\u{1f600}']);
      await current().expectSound();
    });

    test('a mark goes when its queue ends or its head is blocked, also without budget', async () => {
      await current().enter(
        hold('w1', { exclusive: ['a'] }),
        ...readers(2, 'a'),
        hold('w2', { exclusive: ['a'] }),
      );
      await current().claim(ada);
      await current().release(ada, 'w1');
      expect((await current().dump()).marks).toEqual([]);
      await current().expectSound();
    });

    test('what comes while a mark is left queues behind it', async () => {
      await current().enter(hold('w', { exclusive: ['a'] }), ...readers(3, 'a'));
      await current().claim(ada);
      await current().release(ada, 'w');
      expect(await current().enter(hold('late', { shared: ['a'] }))).toEqual(['queued']);
      expect(await current().table.enterNow(epoch, bob, [hold('now', { shared: ['a'] })])).toEqual([
        { status: 'blocked', resource: 'a' },
      ]);
      await current().expectSound();
    });

    test('a mark is worked off by the release of another reader, too', async () => {
      await current().enter(hold('w', { exclusive: ['a'] }), ...readers(4, 'a'));
      await current().claim(ada);
      await current().release(ada, 'w');
      await current().table.takeOut(epoch, [{ task: 'a0', entry: 1 }]);
      expect(await current().statuses()).toEqual({ a1: 'granted', a2: 'granted', a3: 'granted' });
      expect((await current().dump()).marks).toEqual([]);
      await current().expectSound();
    });
  });

  describe('promoting from a queue of 100,000', () => {
    const current = freshTable(open);

    test('no call promotes more than 250, in order, and positions are known', async () => {
      const count = 100_000;
      await current().enter(hold('w', { exclusive: ['a'] }));
      for (let first = 0; first < count; first += 10_000) {
        const some = Array.from({ length: 10_000 }, (_, index) =>
          hold(`t${first + index}`, { shared: ['a'] }),
        );
        await current().enter(...some);
      }
      expect((await current().table.inspectHold(epoch, 't99999'))?.waitsFor[0]?.position).toBe(count);
      await current().claim(ada);
      expect(await current().release(ada, 'w')).toEqual(['released']);
      expect(await current().statusOf('t249')).toBe('granted');
      expect(await current().statusOf('t250')).toBe('queued');
      expect(await current().claimTasks(ada, 1)).toEqual(['t0']);
      expect(await current().statusOf('t499')).toBe('granted');
      expect(await current().statusOf('t500')).toBe('queued');
      const [view] = await current().table.inspectLocks(epoch, ['a'], 2);
      expect(view?.waiting.map(({ task }) => task)).toEqual(['t500', 't501']);
      expect(view?.waitingCount).toBe(count - 500);
      expect(await current().table.takeOut(epoch, [{ task: 't70000', entry: 1 }])).toEqual(['taken-out']);
    }, 120_000);
  });
}

import { describe, expect, test } from 'vitest';
import { InvalidTask } from '../../errors.js';
import { ada, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

const numbered = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => prefix + String(index).padStart(4, '0'));

export function describeEntering(open: OpenTable): void {
  describe('entering', () => {
    const current = freshTable(open);

    test('what is free is granted, what is held is queued for', async () => {
      const answers = await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a', 'b'] }),
        hold('t3', { exclusive: ['c'] }),
      );
      expect(answers).toEqual(['granted', 'queued', 'granted']);
      await current().expectSound();
    });

    test('shared holds are granted together, an exclusive one excludes', async () => {
      const answers = await current().enter(
        hold('r1', { shared: ['a'] }),
        hold('r2', { shared: ['a'] }),
        hold('w1', { exclusive: ['a'] }),
      );
      expect(answers).toEqual(['granted', 'granted', 'queued']);
      expect(await current().enter(hold('w2', { exclusive: ['b'] }), hold('r3', { shared: ['b'] }))).toEqual([
        'granted',
        'queued',
      ]);
      await current().expectSound();
    });

    test('a reader behind a waiting writer waits, though readers hold the lock', async () => {
      const answers = await current().enter(
        hold('r1', { shared: ['a'] }),
        hold('w1', { exclusive: ['a'] }),
        hold('r2', { shared: ['a'] }),
      );
      expect(answers).toEqual(['granted', 'queued', 'queued']);
      await current().expectSound();
    });

    test('a waiting hold reserves the free ones among its resources', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a', 'b'] }));
      expect(await current().enter(hold('t3', { exclusive: ['b'] }))).toEqual(['queued']);
      await current().expectSound();
    });

    test('a hold without resources is granted at once', async () => {
      expect(await current().enter(hold('t1'))).toEqual(['granted']);
      expect(await current().claimTasks(ada)).toEqual(['t1']);
      expect(await current().release(ada, 't1')).toEqual(['released']);
      await current().expectSound();
    });

    test('a hold of 1,000 resources is granted, blocks each of them, and hands each on', async () => {
      const names = numbered(1_000, 'r');
      const big = hold('big', { exclusive: names.slice(0, 600), shared: names.slice(600) });
      expect(await current().enter(big)).toEqual(['granted']);
      const behind = hold('behind', { exclusive: names });
      expect(await current().enter(behind, hold('last', { exclusive: ['r0999'] }))).toEqual([
        'queued',
        'queued',
      ]);
      const view = await current().table.inspectHold(epoch, 'behind');
      expect(view?.waitsFor).toHaveLength(1_000);
      expect(view?.exclusive).toEqual(names);
      await current().claim(ada);
      expect(await current().release(ada, 'big')).toEqual(['released']);
      // One call promotes 250 waiters: each of the 1,000 places in a queue counts.
      while ((await current().table.continuePromotions(epoch)) > 0);
      expect(await current().claimTasks(ada)).toEqual(['behind']);
      await current().expectSound();
      await current().release(ada, 'behind');
      expect(await current().claimTasks(ada)).toEqual(['last']);
    });

    test('a hold of 1,001 resources is refused, and nothing of its batch comes in', async () => {
      const big = hold('big', { exclusive: numbered(1_001, 'r') });
      const before = await current().dump();
      await expect(current().enter(hold('t1'), big)).rejects.toBeInstanceOf(InvalidTask);
      await expect(current().table.enterNow(epoch, ada, [big])).rejects.toBeInstanceOf(InvalidTask);
      expect(await current().dump()).toEqual(before);
    });

    test('a malformed hold is refused', async () => {
      for (const bad of [
        { task: '' },
        { priority: 40_000 },
        { place: 'x' },
        { entry: 0 },
        { shared: ['a\0b'] },
      ]) {
        await expect(current().enter({ ...hold('t1'), ...bad })).rejects.toBeInstanceOf(InvalidTask);
      }
    });

    test('duplicates are dropped, and a name given both ways counts as exclusive', async () => {
      const doubled = hold('t1', { exclusive: ['b', 'a', 'b'], shared: ['c', 'a', 'c'] });
      expect(await current().enter(doubled, hold('t2', { shared: ['a'] }))).toEqual(['granted', 'queued']);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({
        exclusive: ['a', 'b'],
        shared: ['c'],
      });
      await current().claim(ada);
      await current().release(ada, 't1');
      expect(await current().statusOf('t2')).toBe('granted');
      await current().expectSound();
    });

    test('the same entry is in already, in whatever state, and changes nothing', async () => {
      const [granted, queued] = [hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] })];
      await current().enter(granted, queued);
      const before = await current().dump();
      expect(await current().enter(granted, queued)).toEqual(['already', 'already']);
      expect(await current().enter(queued, queued)).toEqual(['already', 'already']);
      expect(await current().dump()).toEqual(before);
    });

    test('an owned entry is in already', async () => {
      const owned = hold('t1', { exclusive: ['a'] });
      await current().enter(owned);
      await current().claim(ada);
      expect(await current().enter(owned)).toEqual(['already']);
      expect(await current().statusOf('t1')).toBe('owned');
    });

    test('a task twice in one batch comes in once', async () => {
      const twice = hold('t1', { exclusive: ['a'] });
      expect(await current().enter(twice, twice)).toEqual(['granted', 'already']);
      await current().expectSound();
    });

    test('an older entry that is still there makes the newer one busy, whatever its state', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      expect(await current().enter(hold('t1', { entry: 2 }), hold('t2', { entry: 3 }))).toEqual([
        'busy',
        'busy',
      ]);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({ entry: 1, status: 'granted' });
      await current().expectSound();
    });

    test('a newer entry that is there is told', async () => {
      await current().enter(hold('t1', { entry: 3 }));
      expect(await current().enter(hold('t1', { entry: 2 }))).toEqual(['newer']);
      await current().expectSound();
    });

    test('an older pass is refused and changes nothing; the same or a newer one is not, by value', async () => {
      const { table } = current();
      expect(await table.enter(epoch, '9', [hold('t1')])).toHaveLength(1);
      expect(await table.enter(epoch, '10', [hold('t2')])).toHaveLength(1);
      expect(await table.enter(epoch, '10', [hold('t3')])).toHaveLength(1);
      const before = await current().dump();
      expect(await table.enter(epoch, '9', [hold('t4')])).toBe('older-pass');
      expect(await current().dump()).toEqual(before);
      expect(before.counters.pass).toBe('10');
    });

    test('a batch larger than a call comes in whole, in order', async () => {
      const holds = Array.from({ length: 350 }, (_, index) =>
        hold(`t${index}`, { exclusive: [`r${index % 7}`, 'x'] }),
      );
      expect(await current().enter(...holds)).toEqual(['granted', ...Array(349).fill('queued')]);
      const [view] = await current().table.inspectLocks(epoch, ['x'], 1_000);
      expect(view?.waiting.map(({ task }) => task)).toEqual(holds.slice(1).map(({ task }) => task));
      await current().expectSound();
    });
  });
}

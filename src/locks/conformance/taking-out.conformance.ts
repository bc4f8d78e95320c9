import { describe, expect, test } from 'vitest';
import { ada, epoch, freshTable, hold, lane, type OpenTable } from './harness.conformance.js';

export function describeTakingOut(open: OpenTable): void {
  describe('taking out', () => {
    const current = freshTable(open);
    const takeOut = (...tasks: string[]): Promise<string[]> =>
      current().table.takeOut(
        epoch,
        tasks.map((task) => ({ task, entry: 1 })),
      );

    test('a granted hold leaves its lane and hands its locks on', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a'], lane: 'other' }),
      );
      expect(await takeOut('t1')).toEqual(['taken-out']);
      expect(await current().claimTasks(ada, 9, [lane, 'other'])).toEqual(['t2']);
      await current().expectSound();
    });

    test('with the number of a pass, what an older one has sent enters nothing any more, by value', async () => {
      const { table } = current();
      await table.enter(epoch, '9', [hold('t1')]);
      expect(await table.takeOut(epoch, [{ task: 't1', entry: 1 }], '10')).toEqual(['taken-out']);
      expect(await table.enter(epoch, '9', [hold('t1')])).toBe('older-pass');
      expect(await table.takeOut(epoch, [{ task: 't1', entry: 1 }], '8')).toEqual(['gone']);
      expect(await table.takeOut(epoch, [{ task: 't1', entry: 1 }])).toEqual(['gone']);
      expect((await current().dump()).counters.pass).toBe('10');
      await current().expectSound();
    });

    test('a queued hold leaves its queues and hands on what it had reserved', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a', 'b'] }),
        hold('t3', { exclusive: ['b'] }),
      );
      expect(await takeOut('t2')).toEqual(['taken-out']);
      expect(await current().statuses()).toEqual({ t1: 'granted', t3: 'granted' });
      await current().expectSound();
    });

    test('a writer taken out from between readers lets those behind it in', async () => {
      await current().enter(
        hold('r1', { shared: ['a'] }),
        hold('w1', { exclusive: ['a'] }),
        hold('r2', { shared: ['a'] }),
      );
      expect(await takeOut('w1')).toEqual(['taken-out']);
      expect(await current().statusOf('r2')).toBe('granted');
      await current().expectSound();
    });

    test('one in the middle of a queue leaves the others in order', async () => {
      await current().enter(...['t1', 't2', 't3', 't4'].map((task) => hold(task, { exclusive: ['a'] })));
      expect(await takeOut('t3')).toEqual(['taken-out']);
      const [view] = await current().table.inspectLocks(epoch, ['a'], 9);
      expect(view?.waiting.map(({ task, position }) => [task, position])).toEqual([
        ['t2', 1],
        ['t4', 2],
      ]);
    });

    test('an owned hold stays, a later entry stays, what is not there is gone', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { entry: 2 }));
      await current().claim(ada, 1);
      const before = await current().dump();
      expect(await takeOut('t1', 't2', 't3')).toEqual(['owned', 'stale', 'gone']);
      expect(await current().dump()).toEqual(before);
    });

    test('an earlier entry goes as well, unless it is owned', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      const later = (task: string): Promise<string[]> =>
        current().table.takeOut(epoch, [{ task, entry: 10 }]);
      expect(await later('t1')).toEqual(['taken-out']);
      expect(await current().statuses()).toEqual({ t2: 'granted' });
      await current().claim(ada, 1);
      expect(await later('t2')).toEqual(['owned']);
      await current().expectSound();
    });

    test('taken out and entered again, it queues at the end', async () => {
      await current().enter(...['t1', 't2', 't3'].map((task) => hold(task, { exclusive: ['a'] })));
      await takeOut('t2');
      expect(await current().enter(hold('t2', { entry: 2, exclusive: ['a'] }))).toEqual(['queued']);
      const [view] = await current().table.inspectLocks(epoch, ['a'], 9);
      expect(view?.waiting.map(({ task }) => task)).toEqual(['t3', 't2']);
      await current().expectSound();
    });

    test('the take-out of an entry that made a newer one busy wakes admission', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      expect(await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }))).toEqual(['busy']);
      await takeOut('t1');
      expect((await current().dump()).wakeUps.admission).toBe(1);
    });

    test('a batch of many, with 1,000 resources among them', async () => {
      const names = Array.from({ length: 1_000 }, (_, index) => `r${index}`);
      const tasks = Array.from({ length: 120 }, (_, index) => `t${index}`);
      await current().enter(hold('big1', { exclusive: names }), hold('big2', { shared: names }));
      await current().enter(...tasks.map((task) => hold(task, { exclusive: ['r7'] })));
      expect(await takeOut('big1', 'big2', ...tasks)).toEqual(Array(122).fill('taken-out'));
      // Marks of resources whose queue went away with the batch may be left to the next claim.
      await current().claim(ada);
      await current().expectSound();
      expect((await current().dump()).holds).toEqual([]);
    });
  });
}

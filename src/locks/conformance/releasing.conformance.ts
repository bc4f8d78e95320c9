import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

export function describeReleasing(open: OpenTable): void {
  describe('releasing', () => {
    const current = freshTable(open);

    test('the next in the queue is granted, the table ends empty', async () => {
      await current().enter(hold('t1', { exclusive: ['a', 'b'] }), hold('t2', { exclusive: ['b', 'c'] }));
      await current().claim(ada);
      expect(await current().release(ada, 't1')).toEqual(['released']);
      expect(await current().statuses()).toEqual({ t2: 'granted' });
      await current().claim(bob);
      expect(await current().release(bob, 't2')).toEqual(['released']);
      const { holds, locks, queues, registries, ready, lanes } = await current().dump();
      expect({ holds, locks, queues, registries, ready, lanes }).toEqual({
        ...{ holds: [], locks: [], queues: [], registries: [], ready: [], lanes: [] },
      });
      await current().expectSound();
    });

    test('a hold that waits for several is granted by the last of them', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['b'] }),
        hold('t3', { exclusive: ['a', 'b'] }),
      );
      await current().claim(ada);
      await current().release(ada, 't2');
      expect(await current().statusOf('t3')).toBe('queued');
      await current().release(ada, 't1');
      expect(await current().statusOf('t3')).toBe('granted');
    });

    test('the last reader lets the writer in, the writer all readers up to the next writer', async () => {
      await current().enter(
        ...[hold('r1', { shared: ['a'] }), hold('r2', { shared: ['a'] }), hold('w1', { exclusive: ['a'] })],
        ...[hold('r3', { shared: ['a'] }), hold('r4', { shared: ['a'] }), hold('w2', { exclusive: ['a'] })],
        hold('r5', { shared: ['a'] }),
      );
      await current().claim(ada);
      await current().release(ada, 'r1');
      expect(await current().statusOf('w1')).toBe('queued');
      await current().release(ada, 'r2');
      expect(await current().claimTasks(ada)).toEqual(['w1']);
      await current().release(ada, 'w1');
      expect(await current().statuses()).toEqual({
        r3: 'granted',
        r4: 'granted',
        w2: 'queued',
        r5: 'queued',
      });
      await current().expectSound();
    });

    test('what another owner, incarnation or entry holds is left alone', async () => {
      await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }));
      await current().claim(ada);
      const before = await current().dump();
      const attempts = [
        { task: 't1', entry: 2, owner: bob },
        { task: 't1', entry: 2, owner: { name: 'ada', incarnation: '2' } },
        { task: 't1', entry: 2, owner: { name: 'ad', incarnation: '1' } },
        { task: 't1', entry: 1, owner: ada },
        { task: 't1', entry: 3, owner: ada },
      ];
      expect(await current().table.release(epoch, attempts)).toEqual(attempts.map(() => 'stale'));
      expect(await current().dump()).toEqual(before);
    });

    test('what nobody owns is not released', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      const before = await current().dump();
      expect(await current().release(ada, 't1', 't2')).toEqual(['stale', 'stale']);
      expect(await current().dump()).toEqual(before);
    });

    test('what is not there is gone, also when it is released twice', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      expect(await current().release(ada, 't1', 't1', 't9')).toEqual(['released', 'gone', 'gone']);
      await current().expectSound();
    });

    test('a late release does not touch the next hold of the same task', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().release(ada, 't1');
      await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }));
      expect(await current().release(ada, 't1')).toEqual(['stale']);
      expect(await current().claimTasks(bob)).toEqual(['t1']);
      expect(await current().release(ada, 't1')).toEqual(['stale']);
      await current().expectSound();
    });

    test('one reader’s release does not free the lock of another reader of the same owner', async () => {
      await current().enter(hold('r1', { shared: ['a'] }), hold('r2', { shared: ['a'] }));
      await current().claim(ada);
      await current().enter(hold('w1', { exclusive: ['a'] }));
      await current().release(ada, 'r1');
      expect(await current().statusOf('w1')).toBe('queued');
      await current().expectSound();
    });

    test('the release of an entry that made a newer one busy wakes admission', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      expect(await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }))).toEqual(['busy']);
      await current().release(ada, 't1');
      expect((await current().dump()).wakeUps.admission).toBe(1);
      expect(await current().enter(hold('t1', { entry: 2, exclusive: ['a'] }))).toEqual(['granted']);
      await current().expectSound();
    });

    test('a release that made nobody busy does not wake admission', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().release(ada, 't1');
      expect((await current().dump()).wakeUps.admission).toBe(0);
    });

    test('10,000 holds of one owner: claimed, found page by page, released', async () => {
      const count = 10_000;
      const tasks = Array.from({ length: count }, (_, index) => `t${String(index).padStart(5, '0')}`);
      await current().enter(
        ...tasks.map((task) => hold(task, { exclusive: [`r-${task}`], shared: ['all'] })),
      );
      expect(await current().claim(ada, count)).toHaveLength(count);
      const found: string[] = [];
      for (let after: string | null = null; ; after = found.at(-1)!) {
        const page = await current().table.readRegistry(epoch, ada, { after, limit: 1_000 });
        found.push(...page.map(({ task }) => task));
        if (page.length < 1_000) break;
      }
      expect(found).toEqual(tasks);
      expect(await current().table.unlistOwner(epoch, ada)).toBe('still-holds');
      const answers = await current().release(ada, ...tasks);
      expect(answers.filter((answer) => answer === 'released')).toHaveLength(count);
      expect(await current().table.unlistOwner(epoch, ada)).toBe('unlisted');
      await current().expectSound();
    }, 120_000);

    test('holds of 1,000 resources each are released in one batch', async () => {
      const names = (task: number): string[] =>
        Array.from({ length: 1_000 }, (_, index) => `r${task}-${index}`);
      const tasks = [0, 1, 2, 3, 4];
      await current().enter(...tasks.map((task) => hold(`t${task}`, { exclusive: names(task) })), hold('t5'));
      await current().claim(ada);
      expect(await current().release(ada, 't0', 't1', 't9', 't2', 't3', 't4', 't5')).toEqual([
        ...['released', 'released', 'gone', 'released', 'released', 'released', 'released'],
      ]);
      await current().expectSound();
    });
  });
}

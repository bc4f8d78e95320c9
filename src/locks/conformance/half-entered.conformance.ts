import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

export function describeHalfEntered(open: OpenTable): void {
  describe('holds that a call left entering when it died', () => {
    const current = freshTable(open);

    test('it is not claimed, and it may be taken out', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      await current().under.forgeEntering(epoch, 't1');
      expect(await current().claimTasks(ada)).toEqual([]);
      expect(await current().table.takeOut(epoch, [{ task: 't1', entry: 1 }])).toEqual(['taken-out']);
      expect(await current().claimTasks(ada)).toEqual(['t2']);
      await current().expectSound();
    });

    test('entered again, it starts anew: behind those who came since, on all of its resources', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().under.forgeEntering(epoch, 't1');
      expect(await current().enter(hold('t2', { exclusive: ['a', 'b'] }))).toEqual(['queued']);
      // Had it kept `a`, it would wait for `b` of t2, which waits for `a`.
      expect(await current().enter(hold('t1', { exclusive: ['a', 'b'] }))).toEqual(['queued']);
      expect(await current().statuses()).toEqual({ t1: 'queued', t2: 'granted' });
      expect(await current().claimTasks(ada)).toEqual(['t2']);
      await current().release(ada, 't2');
      expect(await current().claimTasks(bob)).toEqual(['t1']);
      await current().expectSound();
    });

    test('a queued one, too, gives up its place in every queue', async () => {
      await current().enter(
        ...['t1', 't2', 't3'].map((task) => hold(task, { exclusive: ['a'], shared: ['b'] })),
      );
      await current().under.forgeEntering(epoch, 't2');
      expect(await current().enter(hold('t2', { exclusive: ['a'], shared: ['b'] }))).toEqual(['queued']);
      const [view] = await current().table.inspectLocks(epoch, ['a'], 9);
      expect(view?.waiting.map(({ task }) => task)).toEqual(['t3', 't2']);
      await current().expectSound();
    });

    test('promoted meanwhile, it has the lock, but is not granted before it is entered again', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().under.forgeEntering(epoch, 't2');
      await current().release(ada, 't1');
      expect(await current().statuses()).toEqual({ t2: 'entering' });
      expect(await current().claimTasks(ada)).toEqual([]);
      expect(await current().enter(hold('t2', { exclusive: ['a'] }))).toEqual(['granted']);
      await current().expectSound();
    });

    test('of an owner, it is already in for enter, present for enterNow, and released like an owned one', async () => {
      await current().table.enterNow(epoch, ada, [hold('t1', { exclusive: ['a'] })]);
      await current().under.forgeEntering(epoch, 't1');
      expect(await current().enter(hold('t1', { exclusive: ['a'] }))).toEqual(['already']);
      expect(await current().table.enterNow(epoch, ada, [hold('t1')])).toEqual([{ status: 'present' }]);
      expect(await current().table.takeOut(epoch, [{ task: 't1', entry: 1 }])).toEqual(['owned']);
      expect(await current().table.readRegistry(epoch, ada, { after: null, limit: 9 })).toMatchObject([
        { task: 't1', entry: 1 },
      ]);
      expect(await current().release(ada, 't1')).toEqual(['released']);
      await current().expectSound();
    });

    test('a move does not hand out what a release left half-way, but ends it', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().under.forgeEntering(epoch, 't1');
      const move = { task: 't1', entry: 1, nextEntry: 2, owner: ada };
      expect(await current().table.move(epoch, [move, move])).toEqual(['gone', 'gone']);
      expect(await current().claimTasks(bob)).toEqual(['t2']);
      await current().expectSound();
    });
  });
}

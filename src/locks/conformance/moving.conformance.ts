import { describe, expect, test } from 'vitest';
import { ada, bob, epoch, freshTable, hold, type OpenTable } from './harness.conformance.js';

const toTwo = { task: 't1', entry: 1, nextEntry: 2, owner: ada };

export function describeMoving(open: OpenTable): void {
  describe('moving to the next entry', () => {
    const current = freshTable(open);

    test('the hold keeps its locks and its place, and any worker of its lane may take it', async () => {
      await current().enter(hold('t1', { exclusive: ['a'], place: '5' }), hold('t2', { exclusive: ['a'] }));
      const [before] = await current().claim(ada);
      await current().enter(hold('t3', { place: '4' }), hold('t4', { place: '6' }));
      expect(await current().table.move(epoch, [toTwo])).toEqual(['moved']);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({
        ...{ entry: 2, status: 'granted', owner: null, fence: null, ownedAt: null, exclusive: ['a'] },
      });
      expect(await current().statusOf('t2')).toBe('queued');
      await current().expectSound();
      const claimed = await current().claim(bob);
      expect(claimed.map(({ task, entry }) => [task, entry])).toEqual([
        ['t3', 1],
        ['t1', 2],
        ['t4', 1],
      ]);
      expect(claimed[1]!.fence > before!.fence).toBe(true);
      await current().expectSound();
    });

    test('the old entry can do nothing any more', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().table.move(epoch, [toTwo]);
      expect(await current().release(ada, 't1')).toEqual(['stale']);
      expect(await current().enter(hold('t1', { exclusive: ['a'] }))).toEqual(['newer']);
      expect(await current().statusOf('t1')).toBe('granted');
      await current().expectSound();
    });

    test('repeated, it is moved still; once it is owned again, it is stale', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      expect(await current().table.move(epoch, [toTwo, toTwo])).toEqual(['moved', 'moved']);
      expect(await current().claimTasks(ada)).toEqual(['t1']);
      const before = await current().dump();
      expect(await current().table.move(epoch, [toTwo])).toEqual(['stale']);
      expect(await current().dump()).toEqual(before);
      await current().expectSound();
    });

    test('what is queued under the next entry is not the result of a move', async () => {
      await current().enter(hold('t0', { exclusive: ['a'] }), hold('t1', { exclusive: ['a'], entry: 2 }));
      const before = await current().dump();
      expect(await current().table.move(epoch, [toTwo])).toEqual(['stale']);
      expect(await current().dump()).toEqual(before);
    });

    test('another owner, incarnation or entry moves nothing', async () => {
      await current().enter(hold('t1', { exclusive: ['a'], entry: 3 }));
      await current().claim(ada);
      const before = await current().dump();
      const moves = [
        { ...toTwo, entry: 3, nextEntry: 4, owner: bob },
        { ...toTwo, entry: 3, nextEntry: 4, owner: { name: 'ada', incarnation: '3' } },
        { ...toTwo, entry: 2, nextEntry: 3 },
        { ...toTwo, entry: 4, nextEntry: 5 },
      ];
      expect(await current().table.move(epoch, moves)).toEqual(moves.map(() => 'stale'));
      expect(await current().dump()).toEqual(before);
    });

    test('what is not there is gone', async () => {
      expect(await current().table.move(epoch, [toTwo])).toEqual(['gone']);
      await current().expectSound();
    });

    test('an entry may be skipped, but a move never goes back', async () => {
      await current().enter(hold('t1'));
      await current().claim(ada);
      await expect(current().table.move(epoch, [{ ...toTwo, nextEntry: 1 }])).rejects.toThrow(/nextEntry/);
      expect(await current().table.move(epoch, [{ ...toTwo, nextEntry: 7 }])).toEqual(['moved']);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({ entry: 7 });
    });

    test('a busy hold that moves wakes admission, once', async () => {
      await current().enter(hold('t1'));
      await current().claim(ada);
      await current().enter(hold('t1', { entry: 2 }));
      await current().table.move(epoch, [toTwo]);
      await current().claim(ada);
      await current().table.release(epoch, [{ task: 't1', entry: 2, owner: ada }]);
      expect((await current().dump()).wakeUps.admission).toBe(1);
    });

    test('more than one call carries', async () => {
      await current().enter(...Array.from({ length: 150 }, (_, index) => hold(`t${index}`)));
      const claimed = await current().claim(ada, 150);
      const moves = claimed.map(({ task, entry }) => ({ task, entry, nextEntry: entry + 1, owner: ada }));
      expect(await current().table.move(epoch, moves)).toEqual(Array(150).fill('moved'));
      expect(await current().claimTasks(bob, 150)).toHaveLength(150);
      await current().expectSound();
    });
  });
}

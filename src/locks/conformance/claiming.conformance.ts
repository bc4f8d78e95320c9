import { describe, expect, test } from 'vitest';
import type { ClaimAnswer } from '../lock-table.js';
import {
  ada,
  bob,
  epoch,
  freshTable,
  hold,
  lane,
  type OpenTable,
  type TableInEpoch,
} from './harness.conformance.js';

const otherLane = 'another lane';

export function describeClaiming(open: OpenTable): void {
  describe('claiming', () => {
    const current = freshTable(open);

    test('the best priority goes first, then the place, by value', async () => {
      await current().enter(
        hold('t1', { place: '10' }),
        hold('t2', { place: '9' }),
        hold('t3', { place: '11', priority: 5 }),
        hold('t4', { place: '8', priority: -1 }),
        hold('t5', { place: '12', priority: 32_767 }),
        hold('t6', { place: '1', priority: -32_768 }),
        hold('t7', { place: '9223372036854775807' }),
      );
      expect(await current().claimTasks(ada)).toEqual(['t5', 't3', 't2', 't1', 't7', 't4', 't6']);
      await current().expectSound();
    });

    test('equal places go by the bytes of the task', async () => {
      const tasks = ['b', 'a', '\u{1f600}', '\uffee', 'ab', 'A'];
      await current().enter(...tasks.map((task) => hold(task, { place: '5' })));
      const inBytes = [...tasks].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(await current().claimTasks(ada)).toEqual(inBytes);
    });

    test('a priority never passes the queue of a resource', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a'] }),
        hold('t3', { exclusive: ['a'], priority: 9 }),
      );
      expect(await current().claimTasks(ada)).toEqual(['t1']);
      await current().release(ada, 't1');
      expect(await current().claimTasks(ada)).toEqual(['t2']);
    });

    test('several lanes are merged, and lanes that were not asked for are left', async () => {
      await current().enter(
        hold('t1', { place: '1' }),
        hold('t2', { place: '2', lane: otherLane }),
        hold('t3', { place: '3' }),
        hold('t4', { place: '4', lane: 'third' }),
      );
      expect(await current().claimTasks(ada, 9, [otherLane, 'no such lane', lane, otherLane])).toEqual([
        't1',
        't2',
        't3',
      ]);
      expect(await current().claimTasks(ada, 9, [])).toEqual([]);
      expect(await current().statusOf('t4')).toBe('granted');
      await current().expectSound();
    });

    test('the limit is kept, also over 100; 0 takes nothing', async () => {
      await current().enter(...Array.from({ length: 260 }, (_, index) => hold(`t${index}`)));
      expect(await current().claimTasks(ada, 0)).toEqual([]);
      expect(await current().claimTasks(ada, 3)).toEqual(['t0', 't1', 't2']);
      expect(await current().claimTasks(ada, 230)).toHaveLength(230);
      expect(await current().claimTasks(ada, 1_000)).toHaveLength(27);
      expect(await current().claimTasks(ada, 1_000)).toEqual([]);
      await current().expectSound();
    });

    test('a hold is taken once, by the owner and with the fence that the answer tells', async () => {
      await current().enter(hold('t1', { entry: 4, exclusive: ['a'] }));
      const [claimed] = await current().claim(ada);
      expect(claimed).toMatchObject({ task: 't1', entry: 4 });
      expect(await current().claim(bob)).toEqual([]);
      expect(await current().table.inspectHold(epoch, 't1')).toMatchObject({
        ...{ status: 'owned', owner: ada, fence: claimed?.fence },
      });
      expect(await current().table.readRegistry(epoch, ada, { after: null, limit: 9 })).toEqual([claimed]);
    });

    test('fences grow with every claim, as texts', async () => {
      let last = '';
      for (let round = 0; round < 12; round++) {
        await current().enter(hold('t1', { exclusive: ['a'] }));
        const [claimed] = await current().claim(round % 2 ? ada : bob);
        expect(claimed!.fence > last).toBe(true);
        last = claimed!.fence;
        await current().release(round % 2 ? ada : bob, 't1');
      }
    });

    test('an unlisted owner claims nothing, nor does another incarnation of a listed one', async () => {
      await current().enter(hold('t1'));
      const before = await current().dump();
      for (const owner of [
        { name: 'ada', incarnation: '2' },
        { name: 'ad', incarnation: '1' },
      ]) {
        const request = { owner, lanes: [lane], limit: 1, lanesVersion: null };
        expect(await current().table.claim(epoch, request)).toBe('unlisted');
      }
      expect(await current().dump()).toEqual(before);
    });

    test('a queued hold is not claimed', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      expect(await current().claimTasks(ada)).toEqual(['t1']);
    });

    test('lanes are told when they changed: each has a granted hold', async () => {
      const first = await look(current(), null);
      expect(first).toEqual({ holds: [], lanesVersion: '0', lanes: [] });
      await current().enter(hold('t1', { lane: 'b' }), hold('t2', { lane: 'a' }), hold('t3', { lane: 'b' }));
      const second = await look(current(), first.lanesVersion);
      expect(second.lanes).toEqual(['a', 'b']);
      expect((await look(current(), second.lanesVersion)).lanes).toBeNull();
      await current().claimTasks(ada, 1, ['b']);
      expect((await look(current(), second.lanesVersion)).lanes).toBeNull();
      await current().claimTasks(ada, 1, ['b']);
      expect((await look(current(), second.lanesVersion)).lanes).toEqual(['a']);
      expect((await look(current(), first.lanesVersion)).lanes).toEqual(['a']);
    });

    test('lanes are listed in the order of their bytes', async () => {
      const lanes = ['b', '\u{1f600}', '\uffee', 'a:', 'a', '{x}', '*'];
      await current().enter(...lanes.map((lane, index) => hold(`t${index}`, { lane })));
      const inBytes = [...lanes].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect((await look(current(), null)).lanes).toEqual(inBytes);
      await current().expectSound();
    });

    test('a lane whose last hold is claimed in the same answer is not told any more', async () => {
      await current().enter(hold('t1', { lane: 'b' }));
      const request = { owner: ada, lanes: ['b'], limit: 5, lanesVersion: null };
      expect(await current().table.claim(epoch, request)).toMatchObject({
        holds: [{ task: 't1' }],
        lanes: [],
      });
    });
  });
}

async function look(current: TableInEpoch, lanesVersion: string | null): Promise<ClaimAnswer> {
  const answer = await current.table.claim(epoch, { owner: ada, lanes: [], limit: 0, lanesVersion });
  expect(answer).not.toBe('unlisted');
  return answer as ClaimAnswer;
}

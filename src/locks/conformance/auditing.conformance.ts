import { describe, expect, test } from 'vitest';
import type { FaultPlace, TableFault } from '../table-audit.js';
import { ada, bob, epoch, freshTable, hold, lane, type OpenTable } from './harness.conformance.js';

const place = '0000000000000000042';

export function describeAuditing(open: OpenTable): void {
  describe('auditing', () => {
    const current = freshTable(open);

    const faultsOf = async (of: FaultPlace): Promise<TableFault[]> => {
      const { faults, next } = await current().table.findFaults(epoch, { ...of, cursor: null });
      expect(next).toBeNull();
      return faults;
    };
    const faultOf = async (task: string): Promise<unknown> => {
      const [examined] = await current().table.examineHolds(epoch, [task]);
      return examined?.fault;
    };

    test('a sound table has no faults, whatever its holds wait for', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'], shared: ['b'] }),
        hold('t2', { shared: ['a', 'b'] }),
        hold('t3', { exclusive: ['c'] }),
      );
      await current().claim(ada, 1);
      const examined = await current().table.examineHolds(epoch, ['t1', 't2', 't3', 't4']);
      expect(examined.map(({ task, hold, fault }) => [task, hold?.status, hold?.owner, fault])).toEqual([
        ['t1', 'owned', ada, null],
        ['t2', 'queued', null, null],
        ['t3', 'granted', null, null],
        ['t4', undefined, undefined, null],
      ]);
      for (const name of ['a', 'b', 'c', 'none']) {
        expect(await faultsOf({ place: 'lock', name })).toEqual([]);
        expect(await faultsOf({ place: 'queue', name })).toEqual([]);
      }
      expect(await faultsOf({ place: 'ready', name: lane })).toEqual([]);
      expect(await faultsOf({ place: 'waits', name: 't2' })).toEqual([]);
    });

    test.each(['exclusive', 'shared'] as const)(
      'a lock without a hold, %s, is found and mended, and those behind it go on',
      async (mode) => {
        await current().enter(hold('t1', { [mode]: ['a'] }), hold('t2', { exclusive: ['a'] }));
        await current().claim(ada, 1);
        await current().under.forgeLoss(epoch, { hold: 't1' });
        const faults = await faultsOf({ place: 'lock', name: 'a' });
        expect(faults).toEqual([{ place: 'lock', name: 'a', member: 't1', task: 't1', stalled: false }]);
        expect(await current().table.mendFaults(epoch, faults)).toEqual(['mended']);
        expect(await current().statusOf('t2')).toBe('granted');
        expect(await current().table.mendFaults(epoch, faults)).toEqual(['gone']);
        await current().release(ada, 't1');
        await current().expectSound();
      },
    );

    test('a waiter without a hold is found anywhere in the queue and mended', async () => {
      await current().enter(
        hold('t1', { exclusive: ['a'] }),
        hold('t2', { exclusive: ['a'] }),
        hold('t3', { shared: ['a'] }),
      );
      await current().under.forgeLoss(epoch, { hold: 't3' });
      const faults = [
        ...(await faultsOf({ place: 'queue', name: 'a' })),
        ...(await faultsOf({ place: 'waits', name: 't3' })),
      ];
      expect(faults.map(({ place, member, task }) => [place, member, task])).toEqual([
        ['queue', 'st3', 't3'],
        ['waits', '', 't3'],
      ]);
      expect(await current().table.mendFaults(epoch, faults)).toEqual(['mended', 'mended']);
      await current().expectSound();
    });

    test('a ready place without a hold is found and mended', async () => {
      await current().enter(hold('t1', { place: '42' }));
      await current().under.forgeLoss(epoch, { hold: 't1' });
      const faults = await faultsOf({ place: 'ready', name: lane });
      expect(faults).toMatchObject([{ member: `${place}:t1`, task: 't1' }]);
      expect(await current().table.mendFaults(epoch, faults)).toEqual(['mended']);
      await current().expectSound();
    });

    test('what leads to a hold by now is left alone', async () => {
      const t1 = hold('t1', { exclusive: ['a'], place: '42' });
      await current().enter(t1, hold('t2', { exclusive: ['a'] }));
      await current().table.continuePromotions(epoch);
      const all: TableFault[] = [
        { place: 'lock', name: 'a', member: 't1', task: 't1', stalled: false },
        { place: 'queue', name: 'a', member: 'xt2', task: 't2', stalled: false },
        { place: 'queue', name: 'a', member: 'xt2', task: 't2', stalled: true },
        { place: 'ready', name: lane, member: `${place}:t1`, task: 't1', stalled: false },
        { place: 'waits', name: 't2', member: '', task: 't2', stalled: false },
      ];
      const before = await current().dump();
      expect(await current().table.mendFaults(epoch, all)).toEqual([
        ...['sound', 'sound', 'gone', 'sound', 'sound'],
      ]);
      expect(await current().dump()).toEqual(before);
    });

    test('a head that nothing blocks is stalled, and mending hands the resource on', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      await current().under.forgeLoss(epoch, { lock: 'a' });
      const faults = await faultsOf({ place: 'queue', name: 'a' });
      expect(faults).toMatchObject([{ member: 'xt2', task: 't2', stalled: true }]);
      expect(await faultOf('t1')).toEqual({ fault: 'lacks', resource: 'a' });
      await current().table.takeOut(epoch, [{ task: 't1', entry: 1 }]);
      expect(await current().table.mendFaults(epoch, faults)).toEqual(['gone']);
      expect(await current().statusOf('t2')).toBe('granted');
      await current().expectSound();
    });

    test('a hold that its owner’s registry lacks is put there, and the owner is listed', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }));
      await current().claim(ada);
      await current().under.forgeLoss(epoch, { registry: ada });
      expect(await faultOf('t1')).toEqual({ fault: 'unregistered' });
      expect(
        await current().table.registerHolds(epoch, [
          { task: 't1', entry: 2, owner: ada },
          { task: 't1', entry: 1, owner: bob },
          { task: 't2', entry: 1, owner: ada },
        ]),
      ).toEqual(['stale', 'stale', 'gone']);
      expect(await faultOf('t1')).toEqual({ fault: 'unregistered' });
      const held = [{ task: 't1', entry: 1, owner: ada }];
      expect(await current().table.registerHolds(epoch, held)).toEqual(['registered']);
      await current().expectSound();
    });

    test('a hold that is entering, not ready, or without a queue place is told', async () => {
      await current().enter(
        ...[hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] })],
        ...[hold('t3', { lane: 'other' }), hold('t4')],
      );
      await current().under.forgeLoss(epoch, { queue: 'a' });
      await current().under.forgeLoss(epoch, { ready: 'other' });
      await current().under.forgeEntering(epoch, 't4');
      expect(await faultOf('t2')).toEqual({ fault: 'lacks', resource: 'a' });
      expect(await faultOf('t3')).toEqual({ fault: 'not-ready' });
      expect(await faultOf('t4')).toEqual({ fault: 'entering' });
    });

    test('more holds and faults than one call carries', async () => {
      const resources = Array.from({ length: 40 }, (_, index) => `r${index}`);
      const tasks = Array.from({ length: 230 }, (_, index) => `t${String(index).padStart(3, '0')}`);
      await current().enter(...tasks.map((task) => hold(task, { shared: resources })));
      const examined = await current().table.examineHolds(epoch, tasks);
      expect(examined.map(({ task }) => task)).toEqual(tasks);
      expect(examined.every(({ fault }) => fault === null)).toBe(true);
      for (const task of tasks) await current().under.forgeLoss(epoch, { hold: task });
      const found: TableFault[] = [];
      let cursor: string | null = null;
      do {
        const page = await current().table.findFaults(epoch, { place: 'lock', name: 'r0', cursor });
        found.push(...page.faults);
        cursor = page.next;
      } while (cursor !== null);
      expect(new Set(found.map(({ task }) => task))).toEqual(new Set(tasks));
      const answers = await current().table.mendFaults(epoch, found);
      expect(answers.filter((answer) => answer === 'mended')).toHaveLength(tasks.length);
      expect((await current().dump()).locks.map(({ resource }) => resource)).not.toContain('r0');
    });

    test('names are those of the lanes, or all', async () => {
      await current().enter(hold('t1', { exclusive: ['a'] }), hold('t2', { exclusive: ['a'] }));
      await current().enter(hold('t3'));
      await current().claim(ada, 1);
      const lanes = await current().table.findNames(epoch, { of: 'lanes', cursor: null });
      expect(lanes).toEqual({ names: [{ kind: 'ready', name: lane }], next: null });
      const texts = new Set<string>();
      let cursor: string | null = null;
      do {
        const page = await current().table.findNames(epoch, { of: 'all', cursor });
        for (const { kind, name } of page.names) texts.add(`${kind} ${name}`);
        cursor = page.next;
      } while (cursor !== null);
      expect([...texts].sort()).toEqual([
        ...['hold t1', 'hold t2', 'hold t3', 'lock a', 'queue a', `ready ${lane}`],
        ...['registry ada:1', 'waits t2'],
      ]);
      expect(await current().table.findNames('99', { of: 'lanes', cursor: null })).toEqual({
        names: [],
        next: null,
      });
    });

    test('a turn is one taker’s until it expires', async () => {
      const { table } = current();
      const taken = await Promise.all(['a', 'b', 'c'].map((taker) => table.takeTurn('x', taker, 60_000)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await table.takeTurn('y', 'a', 1)).toBe(true);
      await expect.poll(() => table.takeTurn('y', 'b', 60_000)).toBe(true);
      expect(await table.takeTurn('y', 'c', 60_000)).toBe(false);
    });
  });
}

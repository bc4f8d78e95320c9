import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fenceText } from '../../fence.js';
import type { LockTable } from '../lock-table.js';
import { ada, bob, buildingHold, epoch, hold, lane } from './harness.conformance.js';
import { TableInEpoch, type OpenTable } from './harness.conformance.js';

const oldFence = fenceText('6', '41');

export function describeBuilding(open: OpenTable): void {
  describe('building an epoch', () => {
    let current: TableInEpoch;
    let table: LockTable;
    beforeEach(async () => {
      current = new TableInEpoch(await open({}));
      ({ table } = current);
      await table.beginEpoch(epoch, 1);
    });
    afterEach(() => current.under.close());

    test('running tasks come in owned, with their fences, and their owners listed', async () => {
      const running = buildingHold('t', {
        exclusive: ['a'],
        shared: ['b'],
        owner: ada,
        fence: oldFence,
        entry: 4,
      });
      expect(await table.enterBuilding(epoch, [running])).toEqual([{ status: 'entered' }]);
      await table.openEpoch(epoch);
      expect(await table.findOwners(epoch, { after: null, limit: 9 })).toEqual([ada]);
      expect(await table.readRegistry(epoch, ada, { after: null, limit: 9 })).toEqual([
        { task: 't', entry: 4, fence: oldFence },
      ]);
      expect(await table.inspectHold(epoch, 't')).toMatchObject({
        ...{ status: 'owned', owner: ada, fence: oldFence, exclusive: ['a'], shared: ['b'] },
      });
      expect(await current.claimTasks(ada)).toEqual([]);
      await current.expectSound();
    });

    test('holds without an owner come in granted: any worker of the lane takes them', async () => {
      await table.enterBuilding(epoch, [buildingHold('t', { exclusive: ['a'], fence: oldFence })]);
      await table.openEpoch(epoch);
      expect(await table.inspectHold(epoch, 't')).toMatchObject({
        status: 'granted',
        owner: null,
        fence: null,
      });
      await table.listOwner(epoch, bob);
      expect(await current.claimTasks(bob)).toEqual(['t']);
      await current.expectSound();
    });

    test('what comes in later queues behind what was built', async () => {
      const running = [
        buildingHold('t1', { shared: ['a'], owner: ada, fence: oldFence }),
        buildingHold('t2', { shared: ['a'], owner: bob, fence: oldFence }),
      ];
      expect(await table.enterBuilding(epoch, running)).toEqual([
        { status: 'entered' },
        { status: 'entered' },
      ]);
      await table.openEpoch(epoch);
      expect(await current.enter(hold('t3', { exclusive: ['a'] }))).toEqual(['queued']);
      await current.release(ada, 't1');
      expect(await current.release(bob, 't2')).toEqual(['released']);
      const [claimed] = await current.claim(ada);
      expect(claimed?.task).toBe('t3');
      expect(claimed!.fence > oldFence).toBe(true);
      await current.expectSound();
    });

    test('two running tasks that conflict are told, and nothing of the second is written', async () => {
      await table.enterBuilding(epoch, [buildingHold('t1', { exclusive: ['b'], shared: ['c'], owner: ada })]);
      const before = await current.dump();
      const conflicting = [
        buildingHold('t2', { exclusive: ['a', 'b'], owner: bob }),
        buildingHold('t3', { exclusive: ['c'] }),
        buildingHold('t4', { shared: ['a', 'b'], owner: bob }),
      ];
      expect(await table.enterBuilding(epoch, conflicting)).toEqual([
        { status: 'conflict', resource: 'b' },
        { status: 'conflict', resource: 'c' },
        { status: 'conflict', resource: 'b' },
      ]);
      expect(await current.dump()).toEqual(before);
      await current.expectSound();
    });

    test('repeating it changes nothing', async () => {
      const holds = [
        buildingHold('t1', { exclusive: ['a'], owner: ada, fence: oldFence }),
        buildingHold('t2', { shared: ['b'] }),
      ];
      await table.enterBuilding(epoch, holds);
      const before = await current.dump();
      expect(await table.enterBuilding(epoch, holds)).toEqual([{ status: 'entered' }, { status: 'entered' }]);
      expect(await current.dump()).toEqual(before);
    });

    test('another entry of the same task conflicts with itself', async () => {
      await table.enterBuilding(epoch, [buildingHold('t1', { exclusive: ['b'], shared: ['a'], owner: ada })]);
      const other = [buildingHold('t1', { entry: 2, exclusive: ['z'], owner: bob })];
      expect(await table.enterBuilding(epoch, other)).toEqual([{ status: 'conflict', resource: 'b' }]);
      await current.expectSound();
    });

    test('more holds than one call carries', async () => {
      const holds = Array.from({ length: 250 }, (_, index) =>
        buildingHold(`t${index}`, { exclusive: [`r${index}`], owner: index % 2 ? ada : null }),
      );
      const answers = await table.enterBuilding(epoch, holds);
      expect(answers.every(({ status }) => status === 'entered')).toBe(true);
      expect(answers).toHaveLength(250);
      await table.openEpoch(epoch);
      await table.listOwner(epoch, bob);
      expect(await current.claimTasks(bob, 250, [lane])).toHaveLength(125);
      await current.expectSound();
    });
  });
}

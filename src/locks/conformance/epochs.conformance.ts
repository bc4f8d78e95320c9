import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LockTable } from '../lock-table.js';
import { ada, bob, buildingHold, epoch, expectRefused, hold, lane } from './harness.conformance.js';
import { TableInEpoch, type OpenTable } from './harness.conformance.js';

/** Every operation that works in an open epoch. */
const operations: [string, (table: LockTable, epoch: string) => Promise<unknown>][] = [
  ['enter', (table, epoch) => table.enter(epoch, '9', [hold('t', { exclusive: ['r'] })])],
  ['enterNow', (table, epoch) => table.enterNow(epoch, ada, [hold('t', { exclusive: ['r'] })])],
  [
    'claim',
    (table, epoch) => table.claim(epoch, { owner: ada, lanes: [lane], limit: 1, lanesVersion: null }),
  ],
  ['move', (table, epoch) => table.move(epoch, [{ task: 't', entry: 1, nextEntry: 2, owner: ada }])],
  ['release', (table, epoch) => table.release(epoch, [{ task: 't', entry: 1, owner: ada }])],
  ['takeOut', (table, epoch) => table.takeOut(epoch, [{ task: 't', entry: 1 }])],
  ['continuePromotions', (table, epoch) => table.continuePromotions(epoch)],
  ['listOwner', (table, epoch) => table.listOwner(epoch, { name: 'eve', incarnation: '9' })],
  ['unlistOwner', (table, epoch) => table.unlistOwner(epoch, bob)],
  ['findOwners', (table, epoch) => table.findOwners(epoch, { after: null, limit: 9 })],
  ['readRegistry', (table, epoch) => table.readRegistry(epoch, ada, { after: null, limit: 9 })],
  ['inspectLocks', (table, epoch) => table.inspectLocks(epoch, ['r'], 9)],
  ['inspectHold', (table, epoch) => table.inspectHold(epoch, 't')],
];

export function describeEpochs(open: OpenTable): void {
  describe('epochs', () => {
    let current: TableInEpoch;
    let table: LockTable;
    beforeEach(async () => {
      current = new TableInEpoch(await open({}));
      ({ table } = current);
    });
    afterEach(() => current.under.close());

    test('an empty server has no epoch', async () => {
      expect(await table.readEpoch()).toBeNull();
    });

    test('an epoch is building, then open; its record tells format and server', async () => {
      expect(await table.beginEpoch(epoch, 3)).toBe('begun');
      const building = await table.readEpoch();
      expect(building).toMatchObject({ epoch, format: 3, status: 'building', identityHolds: true });
      expect(building?.identity).not.toBe('');
      expect(await table.openEpoch(epoch)).toBe('opened');
      expect(await table.readEpoch()).toEqual({ ...building, status: 'open' });
      expect(await table.openEpoch(epoch)).toBe('not-building');
    });

    test('only a larger number begins an epoch, by value and not by text', async () => {
      expect(await table.beginEpoch('9', 1)).toBe('begun');
      expect(await table.beginEpoch('10', 1)).toBe('begun');
      for (const older of ['10', '9', '1']) expect(await table.beginEpoch(older, 1)).toBe('not-newer');
      expect(await table.readEpoch()).toMatchObject({ epoch: '10', status: 'building' });
    });

    test.each(operations)('%s is refused before there is an epoch', async (_, operate) => {
      await expectRefused(operate(table, epoch), 'none');
      expect(await table.readEpoch()).toBeNull();
    });

    test.each(operations)('%s is refused while the epoch is being built', async (_, operate) => {
      await table.beginEpoch(epoch, 1);
      const before = await current.dump();
      await expectRefused(operate(table, epoch), 'building');
      expect(await current.dump()).toEqual(before);
    });

    test.each(operations)('%s is refused for another number, older or newer', async (_, operate) => {
      await current.begin();
      const before = await current.dump();
      for (const other of ['6', '8', '07']) await expectRefused(operate(table, other), 'other');
      expect(await current.dump()).toEqual(before);
    });

    test.each(operations)(
      '%s is refused on another server than the epoch was built on',
      async (_, operate) => {
        await current.begin();
        await current.under.forgeIdentity();
        const before = await current.dump();
        await expectRefused(operate(table, epoch), 'identity');
        expect(await current.dump()).toEqual(before);
        expect(await table.readEpoch()).toMatchObject({ epoch, identityHolds: false });
      },
    );

    test('building and opening are refused without an epoch, for another one, and on another server', async () => {
      const build = (number: string) => table.enterBuilding(number, [buildingHold('t')]);
      await expectRefused(build(epoch), 'none');
      await expectRefused(table.openEpoch(epoch), 'none');
      await table.beginEpoch(epoch, 1);
      await expectRefused(build('8'), 'other');
      await expectRefused(table.openEpoch('8'), 'other');
      await current.under.forgeIdentity();
      await expectRefused(build(epoch), 'identity');
      await expectRefused(table.openEpoch(epoch), 'identity');
      expect((await current.dump()).holds).toEqual([]);
    });

    test('an open epoch is built no more', async () => {
      await current.begin();
      await expectRefused(table.enterBuilding(epoch, [buildingHold('t')]), 'other');
    });

    test('a new epoch starts empty, and the old one is refused', async () => {
      await current.begin();
      await current.enter(hold('t', { exclusive: ['r'] }));
      await table.beginEpoch('8', 1);
      await expectRefused(table.inspectHold(epoch, 't'), 'other');
      await table.openEpoch('8');
      const { holds, locks, owners, counters } = await current.under.dump('8');
      expect({ holds, locks, owners }).toEqual({ holds: [], locks: [], owners: [] });
      expect(counters).toEqual({ pass: '0', order: '0', fence: '0', lanesVersion: '0' });
    });

    test('older epochs are unlinked, this one is not', async () => {
      await current.begin();
      await current.enter(hold('t', { exclusive: ['r'] }));
      await table.beginEpoch('8', 1);
      await table.openEpoch('8');
      await table.listOwner('8', ada);
      expect(await table.unlinkEpochsBefore('8')).toBeGreaterThan(3);
      expect(await table.unlinkEpochsBefore('8')).toBe(0);
      expect(await table.findOwners('8', { after: null, limit: 9 })).toEqual([ada]);
    });

    test('an empty batch makes no call, so no epoch refuses it', async () => {
      expect(await table.enter(epoch, '1', [])).toEqual([]);
      expect(await table.release(epoch, [])).toEqual([]);
      expect(await table.readEpoch()).toBeNull();
    });
  });
}

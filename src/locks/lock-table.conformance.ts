import { describe, expect, test } from 'vitest';
import { describeAuditing } from './conformance/auditing.conformance.js';
import { describeBuilding } from './conformance/building.conformance.js';
import { describeClaiming } from './conformance/claiming.conformance.js';
import { describeEnteringNow } from './conformance/entering-now.conformance.js';
import { describeEntering } from './conformance/entering.conformance.js';
import { describeEpochs } from './conformance/epochs.conformance.js';
import type { OpenTable } from './conformance/harness.conformance.js';
import { describeHalfEntered } from './conformance/half-entered.conformance.js';
import { describeLooking } from './conformance/looking.conformance.js';
import { describeMoving } from './conformance/moving.conformance.js';
import { describeNames } from './conformance/names.conformance.js';
import { describeOwners } from './conformance/owners.conformance.js';
import { describePromoting } from './conformance/promoting.conformance.js';
import { describeReleasing } from './conformance/releasing.conformance.js';
import { describeTakingOut } from './conformance/taking-out.conformance.js';
import { describeWaking } from './conformance/waking.conformance.js';

export type { OpenLockTable, OpenTable } from './conformance/harness.conformance.js';

/** What every lock table does, one test a behaviour. `open` gives a started table on a server of its own or in a
 * namespace of its own. */
export function describeLockTable(name: string, open: OpenTable): void {
  describe(`${name} lock table`, () => {
    test('it tells its kind and where it is', async () => {
      const { table, close } = await open({});
      expect(table.kind).toBe(name);
      expect(table.address).toMatch(/^[a-z+]+:/);
      await close();
    });
    describeEpochs(open);
    describeBuilding(open);
    describeEntering(open);
    describeEnteringNow(open);
    describeClaiming(open);
    describeReleasing(open);
    describeMoving(open);
    describeTakingOut(open);
    describeHalfEntered(open);
    describePromoting(open);
    describeOwners(open);
    describeLooking(open);
    describeNames(open);
    describeWaking(open);
    describeAuditing(open);
  });
}

import { expect, test } from 'vitest';
import type { EpochRecord } from '../../locks/lock-table.js';
import type { NamespaceRow } from '../../store/store.js';
import { Unavailable } from '../../errors.js';
import { EpochRefused } from '../../locks/lock-table.js';
import { inOpenEpoch } from './in-open-epoch.js';

const record: EpochRecord = { epoch: '7', status: 'open', format: 1, identity: 'i', identityHolds: true };

function ports(records: (EpochRecord | null)[], committed: string | null): Parameters<typeof inOpenEpoch>[0] {
  const namespace: NamespaceRow = { epoch: committed, identity: null, tableKind: null, tableAddress: null };
  return {
    store: { readNamespace: async () => namespace },
    table: { kind: 'redis', readEpoch: async () => records.shift() ?? null },
  };
}

test('what is read in the open epoch is the answer', async () => {
  expect(await inOpenEpoch(ports([record], '7'), async (epoch) => `in ${epoch}`)).toBe('in 7');
});

test('another epoch that was opened meanwhile is read, and one that is being built is told', async () => {
  const read = async (epoch: string): Promise<string> => {
    if (epoch === '7') throw new EpochRefused('other', epoch);
    return `in ${epoch}`;
  };
  expect(await inOpenEpoch(ports([record, { ...record, epoch: '8' }], '8'), read)).toBe('in 8');
  await expect(inOpenEpoch(ports([record, record], '7'), read)).rejects.toThrow(Unavailable);
});

test('nothing is held before the first epoch, but a table that has lost its data does not say so', async () => {
  const read = async (): Promise<string> => 'read';
  expect(await inOpenEpoch(ports([null], null), read)).toBeNull();
  await expect(inOpenEpoch(ports([null], '7'), read)).rejects.toThrow(/lost its data/);
});

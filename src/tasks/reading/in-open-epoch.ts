import type { LockTable } from '../../locks/lock-table.js';
import type { Store } from '../../store/store.js';
import { Unavailable } from '../../errors.js';
import { EpochRefused } from '../../locks/lock-table.js';

/**
 * Reads the lock table in its open epoch; once more where another epoch was opened meanwhile. null where there
 * was no epoch yet, so nothing is held. Throws Unavailable while an epoch is being built, or has been lost.
 */
export async function inOpenEpoch<T>(
  { store, table }: { store: Pick<Store, 'readNamespace'>; table: Pick<LockTable, 'kind' | 'readEpoch'> },
  read: (epoch: string) => Promise<T>,
): Promise<T | null> {
  for (let triesLeft = 2; ; triesLeft -= 1) {
    const record = await table.readEpoch();
    if (record === null) {
      // A table in this process that nobody has used yet holds nothing, whatever an earlier process had in its own.
      if (table.kind === 'memory' || (await store.readNamespace()).epoch === null) return null;
      throw new Unavailable(
        'The lock table has lost its data; the next worker that starts or claims rebuilds it.',
      );
    }
    try {
      return await read(record.epoch);
    } catch (error) {
      if (!(error instanceof EpochRefused)) throw error;
      if (triesLeft > 1) continue;
      throw new Unavailable('The lock table is being rebuilt; ask again in a moment.', { cause: error });
    }
  }
}

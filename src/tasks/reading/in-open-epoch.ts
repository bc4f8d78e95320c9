import type { LockTable } from '../../locks/lock-table.js';
import { Unavailable } from '../../errors.js';
import { EpochRefused } from '../../locks/lock-table.js';

/**
 * Reads the lock table in its open epoch; once more where another epoch was opened meanwhile. null where there
 * is no epoch yet, so nothing is held. Throws Unavailable while an epoch is being built.
 */
export async function inOpenEpoch<T>(
  table: Pick<LockTable, 'readEpoch'>,
  read: (epoch: string) => Promise<T>,
): Promise<T | null> {
  for (let triesLeft = 2; ; triesLeft -= 1) {
    const record = await table.readEpoch();
    if (record === null) return null;
    try {
      return await read(record.epoch);
    } catch (error) {
      if (!(error instanceof EpochRefused)) throw error;
      if (triesLeft > 1) continue;
      throw new Unavailable('The lock table is being rebuilt; ask again in a moment.', { cause: error });
    }
  }
}

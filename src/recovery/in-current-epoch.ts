import type { CurrentEpoch } from './current-epoch.js';
import { EpochRefused } from '../locks/lock-table.js';

/** Does `work` in the current epoch. A refusal makes the next caller find or open another one. */
export async function inCurrentEpoch<T>(
  at: { epoch: CurrentEpoch },
  work: (epoch: string) => Promise<T>,
): Promise<T> {
  const epoch = await at.epoch.get();
  try {
    return await work(epoch);
  } catch (error) {
    if (error instanceof EpochRefused) at.epoch.refused(epoch);
    throw error;
  }
}

/** The same; where it is refused, once more in the next epoch. For what no loop repeats. */
export async function inCurrentOrNextEpoch<T>(
  at: { epoch: CurrentEpoch },
  work: (epoch: string) => Promise<T>,
): Promise<T> {
  try {
    return await inCurrentEpoch(at, work);
  } catch (error) {
    if (!(error instanceof EpochRefused)) throw error;
    return inCurrentEpoch(at, work);
  }
}

import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { Owner } from '../owner.js';
import type { CurrentEpoch } from '../recovery/current-epoch.js';
import type { Store } from '../store/store.js';
import { Unavailable } from '../errors.js';
import { EpochRefused } from '../locks/lock-table.js';
import { backoffMs, outageBackoff } from './backoff.js';

/** What every part of one incarnation works with. */
export interface Incarnation {
  owner: Owner;
  store: Store;
  table: LockTable;
  epoch: CurrentEpoch;
  log: Logger;
  /** Whether it can prove right now that it is alive; see Heartbeat. Asks the clocks of the system each time. */
  mayAct(): boolean;
  /** Whether it has been found that it may not act any more. */
  isFenced(): boolean;
  /** Stops everything for good without touching the stores. Idempotent. */
  fence(why: string): void;
}

/** What a loop of an incarnation does when a round threw: says so, and pauses longer and longer. */
export function onLoopError(log: Logger, doing: string): (error: unknown, failures: number) => number {
  return (error, failures) => {
    // The next round opens or finds the epoch; only what fails again and again is worth a warning.
    if (error instanceof EpochRefused && failures <= 3) {
      log.debug({ err: error }, `${doing}: the epoch was refused`);
      return failures;
    }
    // An outage passes; anything else needs somebody who looks.
    const level = error instanceof Unavailable || error instanceof EpochRefused ? 'warn' : 'error';
    log[level]({ err: error, failures }, `${doing} failed, and is tried again`);
    return backoffMs(outageBackoff, failures);
  };
}

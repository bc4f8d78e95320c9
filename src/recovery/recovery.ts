import type { LockTable } from '../locks/lock-table.js';
import type { Logger } from '../log.js';
import type { Store } from '../store/store.js';
import type { CurrentEpoch } from './current-epoch.js';

/** What cleaning up after the dead works with. */
export interface Recovery {
  store: Store;
  table: LockTable;
  epoch: CurrentEpoch;
  log: Logger;
}

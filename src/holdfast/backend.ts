import type { LockTable } from '../locks/lock-table.js';
import type { CurrentEpoch } from '../recovery/current-epoch.js';
import type { Database } from '../store/database.js';
import type { Store } from '../store/store.js';
import type { Beater } from '../worker/heartbeat.js';

/** Where the state is, in one of the three ways to run. */
export interface Backend {
  readonly database: Database;
  readonly store: Store;
  /** The schema is checked and the lock table is that of the namespace. Throws WrongSchema or WrongTable. */
  storeReady(): Promise<void>;
  /** The lock table, started; the same one for all who ask. */
  openTable(): Promise<BackendTable>;
  /** Whether the lock table is open, so that `wakeAdmission` reaches it at once. */
  readonly canWake: boolean;
  /** Wakes admission through the lock table; opens that first where this process may. Rejects in an outage. */
  wakeAdmission(): Promise<void>;
  /** The table that tells here what settles, opened where this process may; null where it is in another process. */
  announcingTable(): Promise<LockTable | null>;
  /** How workers prove that they are alive. */
  readonly beater: Beater;
  /** Idempotent and bounded in time. */
  close(): Promise<void>;
}

export interface BackendTable {
  table: LockTable;
  epoch: CurrentEpoch;
}

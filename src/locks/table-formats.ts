/** Protocols of the lock table, by number. */
export interface TableFormats {
  oldest: number;
  newest: number;
}

/**
 * Those that this build can keep. A version that brings another one still keeps the one before, so that both run side by
 * side during an upgrade: a new epoch has the newest format that every live worker can keep.
 */
export const tableFormats: TableFormats = { oldest: 1, newest: 1 };

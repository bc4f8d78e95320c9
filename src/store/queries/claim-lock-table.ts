import type { Run } from '../run.js';
import { WrongTable } from '../../errors.js';
import { readNamespace } from './read-namespace.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './claim-lock-table.sql');

interface LockTableAddress {
  kind: string;
  address: string;
}

/** Records the table, unless one is recorded already. */
export async function claimLockTable(run: Run, table: LockTableAddress): Promise<void> {
  const [recorded] = await run<LockTableAddress>(sql, [table.kind, table.address]);
  refuseOther(table, recorded);
}

/** Records nothing. */
export async function checkLockTable(run: Run, table: LockTableAddress): Promise<void> {
  const { tableKind: kind, tableAddress: address } = await readNamespace(run);
  if (kind !== null && address !== null) refuseOther(table, { kind, address });
}

function refuseOther(table: LockTableAddress, recorded: LockTableAddress | undefined): void {
  if (recorded?.kind === table.kind && recorded.address === table.address) return;
  throw new WrongTable(
    `The namespace uses the lock table ${recorded?.kind} at ${recorded?.address}; this process is configured ` +
      `with ${table.kind} at ${table.address}. Two tables would let conflicting tasks run together.`,
  );
}

import { readFileSync } from 'node:fs';
import type { Resources } from '../../resources.js';
import type { Queryable } from '../../store/database.js';
import { Fenced, InvalidTask } from '../../errors.js';
import { isFence } from '../../fence.js';
import { normalizeResources } from '../../resources.js';
import { shown } from '../../shown.js';
import { checkTransaction } from '../check-transaction.js';
import { refuseUnknownOptions } from '../known-options.js';

const text = (name: string): string =>
  readFileSync(new URL(`./queries/${name}.sql`, import.meta.url), 'utf8');
const createTable = text('create-fence-table');
const guard = text('guard-write');

/** Whose write it is, and which of the resources that it holds the write is about. */
export interface GuardedWrite extends Partial<Resources> {
  fence: string;
}

/**
 * Creates the table `holdfast_fences` where it is not there yet, in the database and schema that `tx` writes to. For
 * `guardWrite`; may be called at each start, by many at one time.
 */
export async function createFenceTable(tx: Queryable): Promise<void> {
  checkTransaction(tx);
  await tx.query(createTable, []);
}

/**
 * Refuses a write that comes too late: throws Fenced where a later holder of one of these resources has written before.
 * To be called in the transaction of the write, which must be rolled back then. Any PostgreSQL will do that has the
 * table. A writer who never calls it is not seen.
 *
 * The algorithm is that of fencing tokens: M. Kleppmann, "How to do distributed locking", 2016.
 */
export async function guardWrite(tx: Queryable, write: GuardedWrite): Promise<void> {
  checkTransaction(tx);
  refuseUnknownOptions(write, ['exclusive', 'shared', 'fence'], 'guardWrite');
  const { exclusive, shared } = normalizeResources(write);
  if (!isFence(write.fence)) {
    throw new InvalidTask(`guardWrite needs the fence of a task or a lock; got ${shown(write.fence)}.`);
  }
  const resources = [...exclusive, ...shared];
  if (resources.length === 0) {
    throw new InvalidTask('guardWrite needs a resource at least, in "exclusive" or "shared".');
  }
  const { rows } = await tx.query<{ resource: string }>(guard, [exclusive, shared, write.fence]);
  const passed = new Set(rows.map((row) => row.resource));
  const late = resources.find((resource) => !passed.has(resource));
  if (late === undefined) return;
  throw new Fenced(
    `A later holder of ${JSON.stringify(late)} has written already: what the holder with fence ${write.fence} writes comes too late.`,
  );
}

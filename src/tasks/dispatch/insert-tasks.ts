import type { Database, Queryable } from '../../store/database.js';
import type { NewTask, Store } from '../../store/store.js';
import type { PreparedTask } from './prepare-task.js';
import { Unavailable } from '../../errors.js';

/** One statement carries at most this many rows, and this much payload unless a single row is larger. */
export const maxRowsPerStatement = 1_000;
export const maxBytesPerStatement = 4_194_304;

export interface InsertPorts {
  store: Pick<Store, 'insertTasks'>;
  database: Pick<Database, 'transaction'>;
}

/**
 * Inserts all of the tasks or none. Where the reply is lost, they are inserted once more: their ids were made
 * beforehand, so rows that are there already stay as they are. Throws Unavailable where that fails as well;
 * the tasks may exist then.
 */
export async function insertPrepared(ports: InsertPorts, prepared: readonly PreparedTask[]): Promise<void> {
  try {
    await insertOnce(ports, prepared);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    await insertOnce(ports, prepared);
  }
}

/**
 * Inserts the tasks in a transaction of the caller's. The wake-up is part of it, since nobody here learns of
 * its commit.
 */
export async function insertInTransaction(
  { store }: Pick<InsertPorts, 'store'>,
  prepared: readonly PreparedTask[],
  queryable: Queryable,
): Promise<void> {
  const chunks = chunksOf(prepared);
  for (const [index, tasks] of chunks.entries()) {
    await store.insertTasks(tasks, { queryable, notify: index === chunks.length - 1 });
  }
}

async function insertOnce(
  { store, database }: InsertPorts,
  prepared: readonly PreparedTask[],
): Promise<void> {
  const [first, ...others] = chunksOf(prepared);
  if (first === undefined) return;
  if (others.length === 0) return store.insertTasks(first);
  await database.transaction(async (queryable) => {
    for (const tasks of [first, ...others]) await store.insertTasks(tasks, { queryable });
  });
}

export function chunksOf(prepared: readonly PreparedTask[]): NewTask[][] {
  const chunks: NewTask[][] = [];
  let bytesLeft = 0;
  for (const { task, bytes } of prepared) {
    const chunk = chunks.at(-1);
    if (chunk !== undefined && chunk.length < maxRowsPerStatement && bytes <= bytesLeft) {
      chunk.push(task);
    } else {
      chunks.push([task]);
      bytesLeft = maxBytesPerStatement;
    }
    bytesLeft -= bytes;
  }
  return chunks;
}

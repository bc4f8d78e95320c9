import type { Database, Queryable } from '../../store/database.js';
import type { NewTask, Store, TaskInstead } from '../../store/store.js';
import type { PreparedTask } from './prepare-task.js';
import { Unavailable } from '../../errors.js';

/** One statement carries at most this many rows, and this many bytes unless a single row is larger. */
export const maxRowsPerStatement = 1_000;
export const maxBytesPerStatement = 4_194_304;

export interface InsertPorts {
  store: Pick<Store, 'insertTasks'>;
  database: Pick<Database, 'transaction'>;
}

/**
 * Inserts all of the tasks or none; with `notify` the commit wakes admission. Where the reply is lost, they are
 * inserted once more: their ids were made beforehand, so rows that are there already stay as they are. Answers with
 * what is there in place of those whose keys are kept. Throws Unavailable where that fails as well; the tasks may exist
 * then.
 */
export async function insertPrepared(
  ports: InsertPorts,
  prepared: readonly PreparedTask[],
  notify: boolean,
): Promise<TaskInstead[]> {
  try {
    return await insertOnce(ports, prepared, notify);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return insertOnce(ports, prepared, notify);
  }
}

/** Inserts the tasks in a transaction; with `notify`, once, its commit wakes admission. */
export async function insertInTransaction(
  { store }: Pick<InsertPorts, 'store'>,
  prepared: readonly PreparedTask[],
  queryable: Queryable,
  notify: boolean,
): Promise<TaskInstead[]> {
  const chunks = chunksOf(prepared);
  const instead: TaskInstead[] = [];
  for (const [index, tasks] of chunks.entries()) {
    const last = index === chunks.length - 1;
    instead.push(...(await store.insertTasks(tasks, { queryable, notify: notify && last })));
  }
  return instead;
}

async function insertOnce(
  ports: InsertPorts,
  prepared: readonly PreparedTask[],
  notify: boolean,
): Promise<TaskInstead[]> {
  const [tasks, ...others] = chunksOf(prepared);
  if (others.length > 0) {
    return ports.database.transaction((queryable) => insertInTransaction(ports, prepared, queryable, notify));
  }
  return tasks === undefined ? [] : ports.store.insertTasks(tasks, { notify });
}

export function chunksOf(prepared: readonly PreparedTask[]): NewTask[][] {
  const chunks: NewTask[][] = [];
  let bytesLeft = 0;
  for (const { task, bytes: payload } of prepared) {
    const bytes = payload + namesBytes(task);
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

/** Of the names of its resources: a thousand of a KiB each weigh as much as the largest payload. And of its key. */
function namesBytes({ exclusive, shared, uniqueKey }: NewTask): number {
  let bytes = uniqueKey === null ? 0 : Buffer.byteLength(uniqueKey);
  for (const names of [exclusive, shared]) for (const name of names) bytes += Buffer.byteLength(name);
  return bytes;
}

import type { Database } from '../../src/store/database.js';
import { uniqueNamespace } from '../helpers/servers.js';
import { emptyNamespace } from './empty-namespace.js';
import { openPglite } from './open-pglite.js';

/** A namespace for one test at a time, empty where one was used before. */
export interface BorrowedNamespace {
  database: Database;
  namespace: string;
  giveBack(): void;
}

let opened: Promise<Database> | null = null;
const free: string[] = [];

/**
 * In one PGlite for all tests of this process. Migrating a namespace takes it a third of a second, so those that were
 * given back are used again.
 */
export async function borrowNamespace(): Promise<BorrowedNamespace> {
  const database = await (opened ??= openPglite());
  const used = free.pop();
  if (used !== undefined) await emptyNamespace(database, used);
  const namespace = used ?? uniqueNamespace();
  return { database, namespace, giveBack: () => void free.push(namespace) };
}

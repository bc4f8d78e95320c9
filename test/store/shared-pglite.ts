import type { Database } from '../../src/store/database.js';
import { uniqueNamespace } from '../helpers/servers.js';
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
  if (used !== undefined) await empty(database, used);
  const namespace = used ?? uniqueNamespace();
  return { database, namespace, giveBack: () => void free.push(namespace) };
}

/** As the migrations leave it. */
async function empty(database: Database, namespace: string): Promise<void> {
  const { rows: tables } = await database.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'",
    [namespace],
  );
  const { rows: sequences } = await database.query<{ name: string }>(
    'SELECT sequencename AS name FROM pg_sequences WHERE schemaname = $1',
    [namespace],
  );
  const named = (name: string): string => `"${namespace}"."${name}"`;
  await database.query(`TRUNCATE ${tables.map(({ name }) => named(name)).join()}`);
  for (const { name } of sequences) await database.query(`ALTER SEQUENCE ${named(name)} RESTART`);
  await database.query(`INSERT INTO ${named('namespace')} DEFAULT VALUES`);
}

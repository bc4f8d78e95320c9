import type { Database, Queryable } from './database.js';
import type { Migration } from './migration-files.js';
import { WrongSchema } from '../errors.js';
import { migrationFiles } from './migration-files.js';
import { runOn } from './run.js';
import { sqlFile, sqlForNamespace } from './sql-file.js';

const lock = sqlFile(import.meta.url, './queries/lock-for-migration.sql');
const tableExists = sqlFile(import.meta.url, './queries/migrations-table-exists.sql');
const createTable = sqlFile(import.meta.url, './queries/create-migrations-table.sql');
const readApplied = sqlFile(import.meta.url, './queries/applied-migrations.sql');
const recordApplied = sqlFile(import.meta.url, './queries/record-migration.sql');

/** Whoever comes second waits until the first has applied everything. */
const limits = { lockLimitMs: 60_000, statementLimitMs: 120_000, idleLimitMs: 60_000 };

interface Applied {
  name: string;
  checksum: string;
  contracts: boolean;
}

/**
 * Applies what is missing, in one transaction under an advisory lock: all of it or nothing. Where nothing is
 * missing, it only reads, so a role without the right to create anything will do. Throws WrongSchema where a newer version
 * has taken away from the schema what this build needs, or where it was made by another text of a migration.
 */
export async function migrate(
  database: Database,
  namespace: string,
  migrations: Migration[] = migrationFiles(),
): Promise<{ applied: string[] }> {
  if ((await pending(database, namespace, migrations)).length === 0) return { applied: [] };
  return database.transaction(async (queryable) => {
    const run = runOn(queryable, namespace);
    await run(lock);
    const missing = await pending(queryable, namespace, migrations);
    if (missing.length > 0) await queryable.query(createTable(namespace));
    for (const { name, text, checksum, contracts } of missing) {
      await queryable.query(sqlForNamespace(text, namespace));
      await run(recordApplied, [name, checksum, contracts]);
    }
    return { applied: missing.map(({ name }) => name) };
  }, limits);
}

/** The names of the migrations that this build has and the schema lacks. Throws WrongSchema like `migrate`. */
export async function pendingMigrations(database: Database, namespace: string): Promise<string[]> {
  return (await pending(database, namespace, migrationFiles())).map(({ name }) => name);
}

async function pending(
  queryable: Queryable,
  namespace: string,
  migrations: Migration[],
): Promise<Migration[]> {
  const applied = await appliedMigrations(queryable, namespace);
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum, contracts } of applied) {
    if (!known.has(name)) {
      // A newer version has only added something: this one runs beside it during an upgrade.
      if (!contracts) continue;
      throw new WrongSchema(
        `The schema "${namespace}" has the migration ${name}, which takes away what this build may need: the ` +
          'schema is newer. Run a newer version of Holdfast.',
      );
    }
    if (known.get(name) !== checksum) {
      throw new WrongSchema(
        `The schema "${namespace}" was made by another text of ${name} (checksum ${checksum}; this build has ` +
          `${known.get(name)}). Run the version that made it.`,
      );
    }
  }
  const names = new Set(applied.map(({ name }) => name));
  return migrations.filter(({ name }) => !names.has(name));
}

async function appliedMigrations(queryable: Queryable, namespace: string): Promise<Applied[]> {
  const run = runOn(queryable, namespace);
  const [table] = await run<{ exists: boolean }>(tableExists);
  return table?.exists === true ? run<Applied>(readApplied) : [];
}

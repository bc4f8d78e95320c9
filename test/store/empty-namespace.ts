import type { Queryable } from '../../src/store/database.js';

/** As the migrations leave it. */
export async function emptyNamespace(database: Queryable, namespace: string): Promise<void> {
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
  // What was known of the rows that were there would decide on plans.
  await database.query(
    `DELETE FROM pg_catalog.pg_statistic s USING pg_catalog.pg_class c
     WHERE c.oid = s.starelid AND c.relnamespace = $1::text::regnamespace`,
    [namespace],
  );
  for (const { name } of sequences) await database.query(`ALTER SEQUENCE ${named(name)} RESTART`);
  await database.query(`INSERT INTO ${named('namespace')} DEFAULT VALUES`);
}

import type { Database } from '../../src/store/database.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { migrate } from '../../src/store/migrate.js';
import { dropKeys, dropNamespace, sharedPostgresUrl, uniqueNamespace } from '../helpers/servers.js';
import { emptyNamespace } from './empty-namespace.js';

/** A migrated namespace of the shared PostgreSQL for one test at a time, empty where one was used before. */
export interface ServerNamespace {
  namespace: string;
  /** Once nothing of the test uses it any more. */
  giveBack(): Promise<void>;
}

let opened: Database | null = null;
const free: { namespace: string; schema: string }[] = [];

/** Migrating takes a tenth of a second of a core, so namespaces that were given back are used again. */
export async function borrowServerNamespace(): Promise<ServerNamespace> {
  const database = (opened ??= createPostgresDatabase({ connection: sharedPostgresUrl() }));
  const used = free.pop() ?? (await createNamespace(database));
  return {
    namespace: used.namespace,
    giveBack: async () => {
      const { namespace, schema } = used;
      if ((await describeSchema(database, namespace)) !== schema) return dropNamespace(namespace);
      await Promise.all([emptyNamespace(database, namespace), dropKeys(namespace)]);
      free.push(used);
    },
  };
}

async function createNamespace(database: Database): Promise<{ namespace: string; schema: string }> {
  const namespace = uniqueNamespace();
  await migrate(database, namespace);
  return { namespace, schema: await describeSchema(database, namespace) };
}

/** A test may have changed it: given it triggers, say, or made its tables unlogged. */
async function describeSchema(database: Database, namespace: string): Promise<string> {
  const { rows } = await database.query<{ description: string }>(
    `SELECT md5(string_agg(line, ',' ORDER BY line)) AS description
     FROM pg_namespace n, LATERAL (
       SELECT concat('f', p.oid, ' ', p.xmin) FROM pg_proc p WHERE p.pronamespace = n.oid
       UNION ALL
       SELECT concat('c', c.oid, ' ', c.relpersistence, c.reloptions) FROM pg_class c WHERE c.relnamespace = n.oid
       UNION ALL
       SELECT concat('k', k.oid, ' ', k.xmin) FROM pg_constraint k WHERE k.connamespace = n.oid
       UNION ALL
       SELECT concat('t', t.oid, ' ', t.xmin) FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
       WHERE c.relnamespace = n.oid
       UNION ALL
       SELECT concat('a', a.attrelid, ' ', a.attnum, ' ', a.xmin) FROM pg_class c
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       WHERE c.relnamespace = n.oid
     ) AS l (line)
     WHERE n.nspname = $1`,
    [namespace],
  );
  return rows[0]?.description ?? '';
}

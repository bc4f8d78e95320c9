import pg from 'pg';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from './servers.js';

/** One row of a worker in a schema of its own: all that a heartbeat touches. */
export interface WorkerRow {
  namespace: string;
  incarnation: string;
  counter(): Promise<number>;
  reap(): Promise<void>;
  drop(): Promise<void>;
}

export async function createWorkerRow(): Promise<WorkerRow> {
  const namespace = uniqueNamespace();
  const client = new pg.Client({ connectionString: sharedPostgresUrl() });
  await client.connect();
  await client.query(`CREATE SCHEMA ${namespace}`);
  await client.query(
    `CREATE TABLE ${namespace}.workers (incarnation bigint PRIMARY KEY, counter bigint NOT NULL DEFAULT 0,
       last_heartbeat timestamptz, reaped_at timestamptz)`,
  );
  await client.query(`INSERT INTO ${namespace}.workers (incarnation) VALUES (1)`);
  return {
    namespace,
    incarnation: '1',
    counter: async () => {
      const { rows } = await client.query<{ counter: string }>(`SELECT counter FROM ${namespace}.workers`);
      return Number(rows[0]?.counter);
    },
    reap: async () => void (await client.query(`UPDATE ${namespace}.workers SET reaped_at = now()`)),
    drop: async () => {
      await client.end();
      await dropNamespace(namespace);
    },
  };
}

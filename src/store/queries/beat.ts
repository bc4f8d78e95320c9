import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './beat.sql');

/**
 * The text of a beat for a thread with a client of its own: $1 is the incarnation. It returns one row, or none
 * where the worker was reaped, has no row, or was registered on another timeline of the server.
 */
export function beatQuery(namespace: string): string {
  return sql(namespace);
}

export async function beat(run: Run, incarnation: string): Promise<'beaten' | 'reaped'> {
  const rows = await run(sql, [incarnation]);
  return rows.length === 0 ? 'reaped' : 'beaten';
}

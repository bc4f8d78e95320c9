import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './say-stopped.sql');

/** The text of it for a thread with a client of its own: $1 is the incarnation. */
export function sayStoppedQuery(namespace: string): string {
  return sql(namespace);
}

export async function sayStopped(run: Run, incarnation: string): Promise<void> {
  await run(sql, [incarnation]);
}

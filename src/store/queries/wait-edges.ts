import type { Run } from '../run.js';
import type { WaitEdges } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './wait-edges.sql');

export async function waitEdges(run: Run, ids: string[]): Promise<WaitEdges[]> {
  return run<WaitEdges>(sql, [ids]);
}

import type { Run } from '../run.js';
import type { TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './readmit-with-resources.sql');

export async function readmitWithResources(
  run: Run,
  worker: string,
  { task, entry, exclusive, shared }: TaskEntry & { exclusive: string[]; shared: string[] },
): Promise<{ nextEntry: number } | 'refused'> {
  const [row] = await run<{ nextEntry: number | null }>(sql, [worker, task, entry, exclusive, shared]);
  return row === undefined || row.nextEntry === null ? 'refused' : { nextEntry: row.nextEntry };
}

import type { Run } from '../run.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './resources-in-use.sql');

/** Reads every unsettled task: for people who look, not for loops. */
export async function resourcesInUse(
  run: Run,
  page: { after: string | null; limit: number },
): Promise<string[]> {
  const rows = await run<{ resource: string }>(sql, [page.after, page.limit]);
  return rows.map(({ resource }) => resource);
}

import type { Run } from '../run.js';
import type { WorkerRow } from '../worker-row.js';
import { InvalidTask } from '../../errors.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './list-workers.sql');

/** In order of incarnation; `after` is the last one of the page before. */
export async function listWorkers(
  run: Run,
  { after, limit }: { after: string | null; limit: number },
): Promise<WorkerRow[]> {
  if (after !== null && !/^\d{1,18}$/.test(after)) {
    throw new InvalidTask(`The cursor must be an incarnation; got ${JSON.stringify(after)}.`);
  }
  return run<WorkerRow>(sql, [after, limit]);
}

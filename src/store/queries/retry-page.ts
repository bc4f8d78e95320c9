import type { Run } from '../run.js';
import type { RetriedPage, RetryPage } from '../retry.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './retry-page.sql');

interface StoredPage {
  retried: number;
  refused: number;
  last: string | null;
  until: string;
}

export async function retryPage(run: Run, { state, name, from, limit }: RetryPage): Promise<RetriedPage> {
  const [page] = await run<StoredPage>(sql, [state, name, from?.until ?? null, from?.after ?? null, limit]);
  const { retried = 0, refused = 0, last = null, until = '' } = page ?? {};
  return { retried, refused, until, next: last === null ? null : { after: last, until } };
}

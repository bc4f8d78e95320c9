import type { Run } from '../run.js';
import type { NamespaceRow } from '../store.js';
import { WrongSchema } from '../../errors.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './read-namespace.sql');

export async function readNamespace(run: Run): Promise<NamespaceRow> {
  const [row] = await run<NamespaceRow>(sql);
  if (row === undefined) throw new WrongSchema('The table "namespace" has lost its only row.');
  return row;
}

import type { Run } from '../run.js';
import type { Policies, TaskEntry } from '../store.js';
import { sqlFile } from '../sql-file.js';

const sql = sqlFile(import.meta.url, './write-policies.sql');

export async function writePolicies(
  run: Run,
  worker: string,
  tasks: (TaskEntry & { policies: Policies })[],
): Promise<void> {
  if (tasks.length === 0) return;
  await run(sql, [
    worker,
    tasks.map(({ task }) => task),
    tasks.map(({ entry }) => entry),
    tasks.map(({ policies }) => JSON.stringify(policies)),
  ]);
}

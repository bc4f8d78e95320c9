import type { Database } from './database.js';
import type { HoldSource, Rebuild, RunningLikeTask } from './store.js';
import { readNamespace } from './queries/read-namespace.js';
import { runOn, type Run } from './run.js';
import { sqlFile } from './sql-file.js';
import { ownerOf } from './task-row.js';

const lockForRebuild = sqlFile(import.meta.url, './queries/lock-for-rebuild.sql');
const drawEpoch = sqlFile(import.meta.url, './queries/draw-epoch.sql');
const runningLike = sqlFile(import.meta.url, './queries/running-like.sql');
const lowestFormat = sqlFile(import.meta.url, './queries/lowest-format.sql');
const commitEpoch = sqlFile(import.meta.url, './queries/commit-epoch.sql');

/** Claims hold the lock for as long as one call takes. */
const limits = { lockLimitMs: 10_000, statementLimitMs: 15_000, idleLimitMs: 5_000 };

interface RunningLikeRow extends HoldSource {
  worker: string | null;
  worker_name: string | null;
  fence: string | null;
}

/** One transaction under the epoch lock, held exclusively: README.md, "A new epoch". */
export async function rebuild<T>(
  database: Database,
  namespace: string,
  build: (rebuild: Rebuild) => Promise<T>,
): Promise<T> {
  return database.transaction(async (queryable) => {
    const run = runOn(queryable, namespace);
    await run(lockForRebuild);
    // Only a statement after the lock sees what the rebuild before this one committed.
    return build(rebuildOn(run, await readNamespace(run)));
  }, limits);
}

function rebuildOn(run: Run, namespace: Rebuild['namespace']): Rebuild {
  return {
    namespace,
    drawEpoch: async (seen) => {
      const [row] = await run<{ epoch: string }>(drawEpoch, [seen]);
      return (row as { epoch: string }).epoch;
    },
    lowestFormat: async () => {
      const [row] = await run<{ format: number | null }>(lowestFormat);
      return row?.format ?? null;
    },
    runningLike: async ({ after, limit }) => {
      const rows = await run<RunningLikeRow>(runningLike, [after, limit]);
      return rows.map(runningLikeTask);
    },
    commitEpoch: async ({ epoch, identity }) => {
      await run(commitEpoch, [epoch, identity]);
    },
  };
}

function runningLikeTask({ worker, worker_name, ...task }: RunningLikeRow): RunningLikeTask {
  return { ...task, owner: ownerOf(worker_name, worker) };
}

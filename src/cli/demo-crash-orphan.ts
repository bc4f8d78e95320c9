import type { Crash } from './demo-crash-report.js';
import type { DemoJob } from './demo-job.js';
import { ApiOwner } from '../api/api-owner.js';
import { silentLogger } from '../log.js';
import { msUntil } from './demo-crash-holds.js';

const ttlMs = 3_000;
/** Beyond the TTL that reconciliation waits for. */
const patienceMs = 30_000;

/**
 * Leaves an owner that is listed and holds a lock, and whose worker row is gone: nobody can know any more whether it
 * lives. Resolves when reconciliation has freed what it held.
 */
export async function leaveOrphan(job: DemoJob): Promise<Crash> {
  const { hf, backend, progress, signal } = job;
  const name = `demo-orphan-${process.pid}`;
  const resource = `demo:orphan-${process.pid}`;
  const owner = await newOwner(job, name);
  try {
    await owner.acquire({ exclusive: [resource] }, { wait: 0 });
    const since = await deleteRow(job, name);
    const isHeld = async (): Promise<boolean> => {
      const [{ locks }, { owners }] = await Promise.all([
        hf.locks.list({ resource }),
        hf.locks.owners({ limit: 1_000 }),
      ]);
      const listed = owners.find((one) => one.name === name);
      return locks.some(({ holders }) => holders.length > 0) || listed !== undefined;
    };
    if (!(await isHeld())) throw new Error('The orphan holds nothing.');
    await progress.step('Left an orphan: an owner that holds a lock and has no worker row.');
    const limitMs = (await backend.store.longestTtlMs()) + patienceMs;
    const ms = await msUntil(async () => !(await isHeld()), { since, limitMs, signal });
    return { what: 'orphan', locks: 1, ms };
  } finally {
    await owner.close();
  }
}

async function newOwner({ backend }: DemoJob, name: string): Promise<ApiOwner> {
  const { table, epoch } = await backend.openTable();
  const { store, beater } = backend;
  const definitions = new Map();
  const options = { store, table, epoch, beater, definitions, name, ttlMs, log: silentLogger };
  return new ApiOwner(async () => options);
}

/** It ends by itself once its beats find no row. */
async function deleteRow({ backend: { database, store } }: DemoJob, name: string): Promise<number> {
  const { rows } = await database.query(
    `DELETE FROM "${store.namespace}".workers WHERE name = $1 RETURNING incarnation`,
    [name],
  );
  if (rows.length !== 1) throw new Error(`There are ${rows.length} rows of ${name}.`);
  return performance.now();
}

import type { Store } from '../../store/store.js';
import type { WorkerRow } from '../../store/worker-row.js';
import type { PageOptions } from './page-options.js';
import { refuseUnknownOptions } from '../known-options.js';
import { cutPage, pageOf } from './page-options.js';

/** A process that registered: it runs tasks (`worker`) or serves (`api`). */
export interface WorkerView {
  name: string;
  /** One life of the worker; a restart under the same name has another. */
  incarnation: string;
  kind: 'worker' | 'api';
  host: string;
  pid: number;
  /** Whether its last beat is younger than its TTL. For display: nothing is decided by it. */
  online: boolean;
  startedAt: string;
  lastHeartbeat: string;
  ttlMs: number;
  concurrency: number;
  queues: string[];
  versions: Record<string, string>;
  /** The tasks that it runs, by id. */
  running: string[];
}

export interface WorkerPage {
  workers: WorkerView[];
  next: string | null;
}

export async function listWorkers(
  store: Pick<Store, 'listWorkers'>,
  options: PageOptions = {},
): Promise<WorkerPage> {
  refuseUnknownOptions(options, ['limit', 'after'], 'workers.list');
  const { limit, after } = pageOf(options);
  const rows = await store.listWorkers({ after, limit: limit + 1 });
  const page = cutPage(rows, limit, ({ incarnation }) => incarnation);
  return { workers: page.rows.map(workerView), next: page.next };
}

function workerView(row: WorkerRow): WorkerView {
  return {
    name: row.name,
    incarnation: row.incarnation,
    kind: row.kind,
    host: row.host,
    pid: row.pid,
    online: row.online,
    startedAt: row.startedAt,
    lastHeartbeat: row.lastHeartbeat,
    ttlMs: row.ttlMs,
    concurrency: row.concurrency,
    queues: row.queues,
    versions: row.versions,
    running: row.running,
  };
}

import { createStore } from '../../src/store/create-store.js';
import { createPostgresDatabase } from '../../src/store/postgres-database.js';
import { dropNamespace, sharedPostgresUrl, uniqueNamespace } from './servers.js';

/** A migrated namespace in which workers are registered that nothing runs for. */
export interface WorkerRows {
  namespace: string;
  register(ttlMs: number): Promise<WorkerRow>;
  drop(): Promise<void>;
}

export interface WorkerRow {
  namespace: string;
  incarnation: string;
  counter(): Promise<number>;
  reap(): Promise<void>;
}

export async function createWorkerRows(): Promise<WorkerRows> {
  const namespace = uniqueNamespace();
  const database = createPostgresDatabase({ connection: sharedPostgresUrl() });
  const store = createStore(database, namespace);
  await store.migrate();
  return {
    namespace,
    register: async (ttlMs) => {
      const { incarnation } = await store.registerWorker({
        ...{ name: 'beating', kind: 'worker', host: 'here', pid: process.pid, identity: {} },
        ...{ ttlMs, concurrency: 1, queues: [], names: [], versions: {}, tableFormat: 1 },
      });
      return {
        namespace,
        incarnation,
        counter: async () => {
          const rows = await store.listWorkers({ after: null, limit: 1_000 });
          return Number(rows.find((row) => row.incarnation === incarnation)?.counter);
        },
        reap: async () => void (await store.reapWorker(incarnation)),
      };
    },
    drop: async () => {
      await database.close();
      await dropNamespace(namespace);
    },
  };
}
